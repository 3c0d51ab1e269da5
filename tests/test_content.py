from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.content import (
    ContentFilter,
    excerpt,
    sample_hash,
    scrub,
    scrub_all,
    scrub_pointer,
    scrub_run,
)
from fullcount.model import Error, Excerpt, Trial, digest_text
from fullcount.plugin import ContentPolicy
from fullcount.testing import CANARIES, kitchen_sink
from fullcount.testing.planting import SECRETS, planted

KEPT = [
    "",
    "and/or",
    "1/2",
    "openai/gpt-4o",
    "meta-llama/Llama-3/8B",
    "s/correct",
    "https://huggingface.co/datasets/x",
    "https://api.openai.com/v1/chat?max_tokens=5",
    "hf://datasets/x/y",
    "s3://bucket/key/a",
    "10.5/20",
    "2024/05/06",
    "a/b/c",
    "./a/b",
    "../x/y",
    "text/html",
    "N/A",
    "/5",
    "m/s",
    "(m)/s/kg",
    "~5/6",
    "C: drive",
    "3:4",
    "key=value",
    "max_tokens=16384",
    "token: classification",
    "password: incorrect",
    "bearer certificate",
    "sk-learn-classification-model",
    "risk-0123456789abcdefgh",
    "mmlu:subject=abstract_algebra,model=openai/gpt-4",
    "line 3#/samples/0/scores",
    "samples/1_epoch_1.json",
    "git@github.com:org/repo.git",
    "somebody@example.com",
    "what?monkeykey",
    r"\frac{1}{2}",
    r"\\frac{1}{2}",
    "\U0001f600",
    "x" * 500,
    "a1b2c3d4-0000-1111-2222-333344445555",
    "0123456789abcdef" * 4,
]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert scrub(text) is text


def path(whole: str, last: str | None) -> str:
    shown = f"[path:{digest_text(whole)[:8]}]"
    return shown if last is None else f"{shown}/{last}"


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("/home/alice/logs/a.json", "a.json"),
        ("/home/alice", None),
        ("/Users/alice", None),
        ("/Users/Alice Smith/x/a.json", "a.json"),
        ("/Users/alice/My Documents/a.json", "a.json"),
        ("/etc/passwd", "passwd"),
        ("/opt/my(dir)/x", "x"),
        ("/home/jos\u00e9/e\u0301/\U0001f600/a", "a"),
        ("//server/share/x", "x"),
        ("~/x", "x"),
        ("~bob/logs/x", "x"),
        (r"C:\Users\alice\a.json", "a.json"),
        (r"C:\\Users\\alice\\a.json", "a.json"),
        (r"C:\Users\alice", None),
        ("C:/Users/alice/b", "b"),
        (r"D:\Program Files (x86)\Foo\bar.exe", "bar.exe"),
        (r"\\server\share\dir name\x.txt", "x.txt"),
        (r"\\\\server\\share\\x", "x"),
        (r"\\?\C:\Users\x\y", "y"),
        ("file:///home/alice/x", "x"),
        ("file:///C:/Users/alice/x", "x"),
        ("file://server/share/private", "private"),
    ],
)
def test_a_path_keeps_its_last_part_and_a_digest(text: str, last: str | None) -> None:
    assert scrub(text) == path(text, last)
    assert scrub(f"see {text}") == f"see {path(text, last)}"
    assert scrub(f'"{text}"') == f'"{path(text, last)}"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=/x/y, b=/z/w.", f"a={path('/x/y', 'y')}, b={path('/z/w.', 'w.')}"),
        ("PATH=/usr/bin:/opt/a/b", f"PATH={path('/usr/bin', 'bin')}:{path('/opt/a/b', 'b')}"),
        ('["/a/b","/c/d"]', f'["{path("/a/b", "b")}","{path("/c/d", "d")}"]'),
        ("hf//home/alice/model", f"hf/{path('/home/alice/model', 'model')}"),
        (r"x\n/home/a/b", rf"x\n{path('/home/a/b', 'b')}"),
        ("https://u:p@host.com/x", "https://[credential]@host.com/x"),
        ("postgresql://u:p@db.example.com/x", "postgresql://[credential]@db.example.com/x"),
        ("http://localhost:8000/v1", "http://[host]/v1"),
        ("http://10.0.0.5/v1", "http://[host]/v1"),
        ("http://[::1]:80/x", "http://[host]/x"),
        ("https://llm.corp.internal/v1", "https://[host]/v1"),
        ("grpc://worker:50051", "grpc://[host]"),
        ("https://a.com/x?api_key=abc&v=1", "https://a.com/x?api_key=[credential]&v=1"),
        ("https://a.com/x?v=1&sig=a%2Fb#y", "https://a.com/x?v=1&sig=[credential]#y"),
        ("sk-proj-abcdefghij0123456789", "[credential]"),
        ("key_sk-abcdefghij0123456789", "key_[credential]"),
        ("AKIAABCDEFGHIJKLMNOP", "[credential]"),
        ("ghp_" + "a1" * 12, "[credential]"),
        ("github_pat_" + "a1" * 12, "[credential]"),
        ("hf_" + "b2" * 12, "[credential]"),
        ("AIza" + "x" * 32, "[credential]"),
        ("glpat-" + "x1" * 10, "[credential]"),
        ("xoxb-1234567890-a", "[credential]"),
        ("sk_live_" + "a1" * 8, "[credential]"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc", "[credential]"),
        ("Authorization: Bearer abc12345", "Authorization: Bearer [credential]"),
        ("bearer abc.12345", "bearer [credential]"),
        ("OPENAI_API_KEY=abcdefghijk", "OPENAI_API_KEY=[credential]"),
        ("MY_KEY=abcdefghijk rest", "MY_KEY=[credential] rest"),
        ('"password": "hunter22"', '"password": "[credential]"'),
        ("password=correcthorse", "password=[credential]"),
        ("client_secret=abcdefgh&x=1", "client_secret=[credential]&x=1"),
    ],
)
def test_secrets_inside_a_text(text: str, expected: str) -> None:
    assert scrub(text) == expected


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *KEPT,
            "/home/a b/c",
            "~/x",
            "C:\\a\\b",
            "\\\\s\\t\\u",
            "file:///a/b",
            "http://localhost/",
            "https://u:p@h.com/?key=v",
            "token=",
            "sk-abcdefghij0123456789",
            "Bearer a1234567",
            "/",
            "\\",
            ":",
            "=",
            "@",
            " ",
            '"',
            "~",
            "\n",
            "]",
        ]
    )
    | st.text(max_size=4),
    max_size=8,
).map("".join)


@given(FRAGMENTS)
def test_what_is_scrubbed_stays_as_it_is(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once


@given(FRAGMENTS, FRAGMENTS)
def test_a_key_never_survives(before: str, after: str) -> None:
    key = "sk-canary0123456789abcdefgh"
    assert key not in scrub(f"{before} {key} {after}")


@pytest.mark.parametrize(
    "pattern",
    [
        "?",
        "sk-",
        "eyJ-",
        "/a ",
        "/home/",
        "key=",
        "://",
        "C:\\",
        "\\\\a\\",
        "password ",
        "~/",
        "/a",
    ],
)
def test_hostile_text_is_scrubbed_in_linear_time(pattern: str) -> None:
    # Quadratic work on this much would not come back.
    assert scrub(pattern * 100_000 + " /x/y").endswith("/y")


@pytest.mark.parametrize(
    "pointer", ["/results/3/scores", "samples/1.json", "line 5: /trial/x", "/data/0/x", "", "#/a/b"]
)
def test_json_pointers_stay(pointer: str) -> None:
    assert scrub_pointer(pointer) is pointer


def test_pointers_to_homes_do_not() -> None:
    assert scrub_pointer("a.zip!/home/me/x") == f"a.zip!{path('/home/me/x', 'x')}"
    assert scrub_pointer("/Users/me/a.json") == path("/Users/me/a.json", "a.json")
    assert scrub_pointer(r"C:\me\a") == path(r"C:\me\a", "a")
    assert scrub_pointer("/api_key=abcdefgh1/x") == "/api_key=[credential]"


def test_plain_data_is_scrubbed_to_its_keys() -> None:
    found = scrub_all({"/home/a/b": ["/etc/x", 1, None, ("~/y",)], "k": {"n": 1.5}})
    assert found == {
        path("/home/a/b", "b"): [path("/etc/x", "x"), 1, None, (path("~/y", "y"),)],
        "k": {"n": 1.5},
    }


# -- runs


def test_clean_run_is_the_same_run() -> None:
    run, _ = kitchen_sink()
    assert scrub_run(run) is run


def test_no_secret_survives_in_a_run() -> None:
    run, trials = planted(*kitchen_sink())
    assert all(secret in run.model_dump_json() for secret in SECRETS)
    clean = scrub_run(run)
    assert not any(secret in clean.model_dump_json() for secret in SECRETS)
    assert clean.subject.id.startswith("acme/anvil-1 [path:")
    for policy in ContentPolicy:
        reduce = ContentFilter(policy)
        for trial in trials:
            text = reduce(trial).model_dump_json()
            assert not any(secret in text for secret in SECRETS), text


def test_scores_keep_pointing_at_their_evaluators() -> None:
    run, trials = planted(*kitchen_sink())
    clean = scrub_run(run)
    reduce = ContentFilter(ContentPolicy.DIGEST)
    for trial in map(reduce, trials):
        assert tuple((s.evaluator, s.metric) for s in trial.scores) == clean.metric_keys
    assert {(r.evaluator, r.metric) for r in clean.reported} <= set(clean.metric_keys)


# -- the content policy


def test_excerpt_follows_the_policy() -> None:
    assert excerpt("abc", ContentPolicy.OMIT) is None
    assert excerpt("abc", ContentPolicy.DIGEST) == Excerpt(sha256=sha256(b"abc").hexdigest())
    assert excerpt("abc", ContentPolicy.INCLUDE) == Excerpt(text="abc")
    assert excerpt("a\ud800b", ContentPolicy.INCLUDE) == Excerpt(text="a?b")
    digest = sha256("a\ud800b".encode("utf-8", "surrogatepass")).hexdigest()
    assert excerpt("a\ud800b", ContentPolicy.DIGEST) == Excerpt(sha256=digest)


def test_sample_hash_is_the_documented_recipe() -> None:
    document = '{"raw":"What is 2+2?","reference":["4","four"]}'
    assert sample_hash("What is 2+2?", ["4", "four"]) == sha256(document.encode()).hexdigest()
    escaped = json.dumps({"raw": "\u00e9\ud800", "reference": []}, separators=(",", ":"))
    assert sample_hash("\u00e9\ud800", []) == sha256(escaped.encode()).hexdigest()


@given(st.text(st.characters() | st.sampled_from('"\\/\n\x00\x1f\x7f\ud800é')))
def test_sample_hash_is_over_the_json_that_python_writes(text: str) -> None:
    document = json.dumps({"raw": text, "reference": [text]}, separators=(",", ":"))
    assert sample_hash(text, [text]) == sha256(document.encode()).hexdigest()


def reduced(policy: ContentPolicy) -> Trial:
    return ContentFilter(policy)(kitchen_sink()[1][0])


def digest(what: str) -> dict[str, Any]:
    return {"sha256": digest_text(CANARIES[what]), "text": None}


def test_digest_gives_the_digest_of_every_text() -> None:
    found = reduced(ContentPolicy.DIGEST).model_dump(mode="json")
    content = found["content"]
    assert content["input"] == digest("input")
    assert content["references"] == [digest("references")]
    assert content["choices"] == [digest("choices")]
    assert content["outputs"] == [digest("outputs")]
    assert content["turns"] == 3
    assert content["messages"] == [
        {
            "role": "assistant",
            "content": digest("messages"),
            "reasoning": digest("reasoning"),
            "tool_calls": [],
            "tool_call_id": "call-0",
        }
    ]
    score = found["scores"][0]
    assert (score["answer"], score["explanation"]) == (digest("answer"), digest("explanation"))
    assert score["label"] == f"sha256:{digest_text(CANARIES['label'])}"
    assert score["raw"] == f"sha256:{digest_text(CANARIES['raw'])}"
    assert found["error"]["message"] == digest("error")
    assert found["scores"][1]["label"] == "B+"


def test_omit_gives_neither_text_nor_digest() -> None:
    found = reduced(ContentPolicy.OMIT)
    text = found.model_dump_json()
    for canary in CANARIES.values():
        assert canary[:30] not in text
        assert digest_text(canary) not in text
    assert found.content is not None
    assert found.content.model_dump(exclude_defaults=True) == {"turns": 3}
    assert (found.scores[0].label, found.scores[0].raw) == ("[omitted]", "[omitted]")
    assert found.error is not None
    assert found.error.model_dump(exclude_none=True) == {"type": "TimeoutError", "retries": 1}
    empty = Trial.model_validate({"case_id": "1", "content": {"input": {"text": "x"}}})
    assert ContentFilter(ContentPolicy.OMIT)(empty).content is None


def test_include_gives_everything() -> None:
    run_trials = kitchen_sink()[1]
    found = tuple(map(ContentFilter(ContentPolicy.INCLUDE), run_trials))
    assert found == run_trials


def test_error_of_a_run_follows_the_policy() -> None:
    error = Error.model_validate({"type": "E", "message": {"text": "in /home/me/secret/x"}})
    assert ContentFilter(ContentPolicy.OMIT).error(error) == Error(type="E")
    hidden = ContentFilter(ContentPolicy.DIGEST).error(error).message
    assert hidden == Excerpt(sha256=digest_text("in /home/me/secret/x"))
    shown = ContentFilter(ContentPolicy.INCLUDE).error(error).message
    assert shown == Excerpt(text=f"in {path('/home/me/secret/x', 'x')}")


@pytest.mark.parametrize("policy", list(ContentPolicy))
def test_nothing_but_text_is_touched(policy: ContentPolicy) -> None:
    for trial in kitchen_sink()[1]:
        found = ContentFilter(policy)(trial)
        for field in ("status", "attempt", "seed", "usage", "duration", "declared_verdict"):
            assert getattr(found, field) == getattr(trial, field)
        assert [(s.state, s.value, s.outcome) for s in found.scores] == [
            (s.state, s.value, s.outcome) for s in trial.scores
        ]


def test_case_ids_stay_apart() -> None:
    reduce = ContentFilter(ContentPolicy.DIGEST)
    ids = ["token=aaaaaaaa1", "token=aaaaaaaa2", "/home/a/x", "/home/b/x", "plain"]
    found = [reduce(Trial(case_id=case)).case_id for case in ids]
    assert len(set(found)) == 5
    assert found[0] == f"token=[credential]#{digest_text(ids[0])[:8]}"
    assert found[4] == "plain"


def test_untouched_trial_is_the_same_object() -> None:
    trial = Trial.model_validate(
        {
            "case_id": "1",
            "trace": {"record_id": "9YkVJ2f7Rk4pQ8sT1uVwXy"},
            "gates": [{"name": "g"}],
            "scores": [{"evaluator": "e", "metric": "m", "state": "scored", "label": "C"}],
        }
    )
    for policy in ContentPolicy:
        assert ContentFilter(policy)(trial) is trial
