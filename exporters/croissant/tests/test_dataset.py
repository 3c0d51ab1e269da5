"""What stands in the dataset, and what mlcroissant makes of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullcount.model import ScoreState, Trial, TrialStatus, Verdict
from fullcount.plugin import ContentPolicy
from fullcount.receipts import verify
from fullcount.testing import CANARIES, example, kitchen_sink
from fullcount_croissant import readback, tables, vocabulary
from fullcount_croissant.aggregates import TABLES

CLEAN = {"errors": [], "warnings": [], "differences": []}


def read(folder: Path, record_set: str) -> list[dict[str, Any]]:
    """The records as mlcroissant gives them, by column."""
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    return [
        {field.partition("/")[2]: readback.plain(value) for field, value in record.items()}
        for record in dataset.records(record_set)
    ]


def test_a_score_that_is_not_there_is_none_and_its_state_says_why(export: Any, judged: Any) -> None:
    done = export(judged("pfn0xs"))
    records = [r for r in read(done.folder, "scores") if r["evaluator"] == "exact"]
    assert [(r["state"], r["value"], r["outcome"], r["raw"]) for r in records] == [
        ("scored", 1.0, "passed", None),
        ("scored", 0.0, "failed", None),
        ("nan", None, None, "NaN"),
        ("null", None, None, "null"),
        ("not_measured", None, None, None),
        ("skipped", None, None, None),
    ]
    assert records == [r for r in done.rows("scores") if r["evaluator"] == "exact"]


def test_every_record_set_is_what_the_files_hold(export: Any, judged: Any) -> None:
    """Of two runs with a file each, and of what fills every column."""
    two = export(judged("pfn0xs" * 5), judged("ppx", "r2", "acme/anvil-2"))
    assert sorted(path.name for path in two.folder.glob("trials*")) == [
        "trials.parquet",
        "trials_0002.parquet",
    ]
    assert readback.main(two.folder, 10_000) == CLEAN
    assert read(two.folder, "trials") == two.rows("trials")
    assert {row["run_id"] for row in two.rows("trials")} == {"r1", "r2"}

    full = export(kitchen_sink(), folder=two.folder / "full", policy=ContentPolicy.INCLUDE)
    assert readback.main(full.folder, 10_000) == CLEAN
    for table in TABLES:
        rows = [*full.rows(table.name), *two.rows(table.name)]
        filled = {name for row in rows for name, value in row.items() if value is not None}
        # A private text is itself or its digest, and here itself.
        assert {column.name for column in table.columns} - filled == {
            f"{column.name}_sha256"
            for column in table.columns
            if column.heavy and column.kind == "text" and column.name not in ("messages", "raw")
        }


def test_summary_holds_every_count_as_an_integer(export: Any, judged: Any) -> None:
    done = export(judged("pppfn0xs"))
    (exact, quality, style) = read(done.folder, "summary")
    counts = {name: value for name, value in exact.items() if name.startswith("n_")}
    assert counts == {
        "n_total": 8,
        "n_sought": 7,
        "n_unverified": 3,
        "n_excluded": 1,
        "n_scored": 4,
        "n_null": 1,
        "n_nan": 1,
        "n_error": 0,
        "n_missing": 0,
        "n_not_measured": 1,
        "n_skipped": 1,
        "n_not_applicable": 0,
        "n_passed": 3,
        "n_partial": 0,
        "n_failed": 1,
    }
    assert {type(value) for value in counts.values()} == {int}
    assert (exact["mean_state"], exact["mean"], exact["mean_n"], exact["mean_sought"]) == (
        "measured",
        0.75,
        4,
        7,
    )
    assert exact["mean_lower"] == pytest.approx(3 / 7)
    assert exact["mean_upper"] == pytest.approx(6 / 7)
    assert (quality["mean_state"], quality["mean"]) == ("nothing_scored", None)
    assert (quality["mean_lower"], quality["mean_upper"]) == (0.0, 10.0)
    assert (style["mean_state"], style["mean"], style["n_scored"]) == ("labels_only", None, 7)
    assert (style["labels"], style["label_counts"]) == (["terse"], [7])


def test_the_run_holds_its_counts_and_pass_rate(export: Any, judged: Any) -> None:
    run, trials = judged("ppf")
    trials = tuple(t.model_copy(update={"scores": t.scores[:1]}) for t in trials)
    (only,) = run.evaluators[:1]
    pair = (run.model_copy(update={"evaluators": (only,)}), (*trials, judged("x")[1][0]))
    (row,) = read(export(pair).folder, "runs")
    assert {name: row[f"status_{name}"] for name in map(str, TrialStatus)} == {
        **dict.fromkeys(map(str, TrialStatus), 0),
        "completed": 3,
        "harness_error": 1,
    }
    assert {name: row[f"verdict_{name}"] for name in map(str, Verdict)} == {
        **dict.fromkeys(map(str, Verdict), 0),
        "passed": 2,
        "failed": 1,
        "unverified": 1,
    }
    assert (row["n_trials"], row["verdict_none"], row["n_measurement_failures"]) == (4, 0, 1)
    assert (row["pass_rate_state"], row["pass_rate_n"], row["pass_rate_sought"]) == (
        "measured",
        3,
        4,
    )
    assert (row["pass_rate"], row["pass_rate_lower"], row["pass_rate_upper"]) == (2 / 3, 0.5, 0.75)


def test_every_field_of_the_model_is_in_a_row(export: Any) -> None:
    run, trials = kitchen_sink()
    done = export((run, trials), policy=ContentPolicy.INCLUDE)
    row = done.rows("trials")[0]
    assert {
        name: row[name]
        for name in (
            *("case_id", "case_id_type", "attempt", "status", "status_reason", "verdict"),
            *("verdict_basis", "judge_verdict", "self_report", "limit_kind", "error_type"),
            *("error_message", "gates", "gate_states", "gate_invalidates", "control", "seed"),
            *("duration", "cost", "input", "reference_answers", "turns", "pointer", "retry"),
        )
    } == {
        "case_id": "17",
        "case_id_type": "number",
        "attempt": 2,
        "status": "subject_error",
        "status_reason": "timeout",
        "verdict": "disputed",
        "verdict_basis": "declared",
        "judge_verdict": "passed",
        "self_report": "success",
        "limit_kind": "time",
        "error_type": "TimeoutError",
        "error_message": CANARIES["error"],
        "gates": ["no cheating", "unknown gate"],
        "gate_states": ["fired", "not_evaluated"],
        "gate_invalidates": [True, False],
        "control": "trap",
        "seed": "7",
        "duration": 60.0,
        "cost": 0.125,
        "input": CANARIES["input"],
        "reference_answers": [CANARIES["references"]],
        "turns": 3,
        "pointer": "samples/17_epoch_2.json",
        "retry": "reconcile_first",
    }
    assert row["started_at"] == trials[0].started_at
    (message,) = json.loads(row["messages"])
    assert message["tool_calls"][0]["arguments"] == {"command": CANARIES["tool_calls"]}
    (facts,) = done.rows("runs")
    assert json.loads(facts["usage"])["acme/judge-2"]["output_tokens"] == 51
    assert (facts["subject_stage"], facts["tools"], facts["planned_trials"]) == (
        "draft",
        ["bash", "python"],
        6,
    )
    reported = done.rows("reported")
    assert [(r["statistic"], r["value_state"], r["value"]) for r in reported] == [
        ("mean", "finite", 9.5),
        ("accuracy", "nan", None),
    ]
    assert "the log was edited" in {finding["message"] for finding in done.rows("findings")}


def test_annotations_repeat_the_counts_zeros_included(export: Any, judged: Any) -> None:
    done = export(judged("pfn0xs"), judged("pp", "r2"))
    dataset = mlcroissant.Dataset(str(done.folder / "croissant.json"))
    found = {
        record_set.id: {note.name: note.value for note in record_set.annotations or ()}
        for record_set in dataset.metadata.record_sets
    }
    assert found["trials"] == {
        "total": 8,
        **{f"status_{status}": 0 for status in map(str, TrialStatus)},
        **{f"verdict_{verdict}": 0 for verdict in map(str, Verdict)},
        "status_completed": 7,
        "status_harness_error": 1,
        "verdict_failed": 1,
        "verdict_unverified": 7,
        "verdict_none": 0,
    }
    assert found["scores"] == {
        "total": 24,
        **{f"state_{state}": 0 for state in map(str, ScoreState)},
        "state_scored": 4 + 7,
        "state_null": 1,
        "state_nan": 1,
        "state_error": 7,
        "state_not_measured": 3,
        "state_skipped": 1,
    }
    second = "acme/anvil-1 on hammering, exact"
    assert found["summary"][f"{second}: n_unverified"] == 0
    assert len(found["summary"]) == 4 * 3  # the names of both runs are the same


def test_variables_have_their_bounds(export: Any, judged: Any) -> None:
    measured = export(judged("pfx")).description["variableMeasured"]
    by_name = {variable["name"]: variable for variable in measured}
    exact, quality = by_name["exact"], by_name["judge.quality"]
    assert (exact["value"], exact["minValue"]) == (0.5, pytest.approx(1 / 3))
    assert exact["maxValue"] == pytest.approx(2 / 3)
    assert "value" not in quality
    assert (quality["minValue"], quality["maxValue"], quality["unitText"]) == (0, 10, "points")
    assert quality["measurementTechnique"] == "evaluator judge (model acme/judge-2)"
    assert (by_name["exact.n_excluded"]["value"], by_name["exact.n_unverified"]["value"]) == (0, 1)
    assert (by_name["pass rate"]["value"], by_name["pass rate"]["maxValue"]) == (0, 2 / 3)


def test_a_scale_that_a_value_has_left_gives_no_bound_there(export: Any, judged: Any) -> None:
    run, (first, second) = judged("p0")
    over = first.scores[0].model_copy(update={"value": 4.2})
    first = first.model_copy(update={"scores": (over, *first.scores[1:])})
    done = export((run, (first, second)))
    measured = {v["name"]: v for v in done.description["variableMeasured"]}
    assert (measured["exact"]["value"], measured["exact"]["minValue"]) == (4.2, 2.1)
    assert "maxValue" not in measured["exact"]
    row = next(r for r in done.rows("summary") if r["metric"] == "exact")
    assert (row["mean_lower"], row["mean_upper"]) == (2.1, None)


def test_missing_data_is_told_in_words(export: Any, judged: Any) -> None:
    done = export(judged("pfn0xs")).description
    told = done["rai:dataCollectionMissingData"]
    assert told.endswith(
        "it is neither 0 nor failed. 5 of 6 trials completed (1 harness_error). exact: 2 of 5 "
        "trials sought have a score; 3 have none (1 null, 1 nan, 1 not_measured). The mean 0.5 "
        "covers 2 of 5; over all of them it lies within 0.2 to 0.8. exact: 1 of 6 were not sought "
        "(1 skipped). judge.quality: 0 of 6 trials sought have a score; 6 have none (5 error, 1 "
        "not_measured). There is no mean; over all of them it lies within 0 to 10. judge.style: 5 "
        "of 6 trials sought have a score; 1 have none (1 not_measured). Its scores are labels, so "
        "there is no mean."
    )
    limits = done["rai:dataLimitations"]
    assert limits[0].startswith("A mean covers only the trials that have a value")
    assert limits[1].startswith("The environment kept 1 of 6 trials from being measured")
    assert any("0.5 covers 2 of 5 trials" in limit for limit in limits)


def test_a_complete_run_says_so(export: Any, judged: Any) -> None:
    run, trials = judged("pf")
    pair = (
        run.model_copy(update={"evaluators": run.evaluators[:1]}),
        tuple(trial.model_copy(update={"scores": trial.scores[:1]}) for trial in trials),
    )
    done = export(pair)
    complete = "Every trial completed, and every score that was sought is there."
    assert done.description["rai:dataCollectionMissingData"].endswith(complete)
    assert (
        f"Nothing: {complete[0].lower()}{complete[1:]}" in (done.folder / "README.md").read_text()
    )


def test_provenance_names_runs_logs_and_datasets(export: Any, judged: Any) -> None:
    done = export(judged("p"), judged("p", "r2"))
    made = done.description["prov:wasGeneratedBy"]
    assert [activity["prov:label"] for activity in made] == [
        "Evaluation of acme/anvil-1 on hammering with sink 1.2, run r1",
        "Evaluation of acme/anvil-1 on hammering with sink 1.2, run r2",
        "Conversion by fullcount 0",
    ]
    assert made[2]["prov:endedAtTime"] == "2026-05-06T07:08:09+00:00"
    evaluations = [n["@id"] for n in done.tasks if n["@type"] == "croissant:EvaluationTask"]
    assert [activity["@id"] for activity in made[:2]] == evaluations
    assert done.description["prov:wasDerivedFrom"] == [
        {"@id": "https://example.org/nails"},
        {
            "@type": "prov:Entity",
            "prov:label": "Log r1.log of format test",
            "identifier": "sha256:" + "ab" * 32,
        },
    ]


def test_enumerations_define_every_member(export: Any, judged: Any) -> None:
    done = export(judged("p"))
    for name, kind in (("states", ScoreState), ("verdicts", Verdict), ("statuses", TrialStatus)):
        members = vocabulary.ENUMERATIONS[name][1]
        assert list(members) == [member.value for member in kind]
        assert [(r["name"], r["definition"]) for r in read(done.folder, name)] == [
            (member, definition) for member, (_, definition) in members.items()
        ]


def test_fields_say_what_null_means_and_are_null_only_then(export: Any, judged: Any) -> None:
    done = export(judged("pfn0xs"))
    described = {field["@id"]: field for r in done.description["recordSet"] for field in r["field"]}
    for table in TABLES:
        for path in done.folder.glob(f"{table.name}*.parquet"):
            for field in pq.read_schema(path):
                node = described[f"{table.name}/{field.name}"]
                many = pa.types.is_list(field.type)
                assert ("Null: " in node["description"]) is field.nullable
                assert node.get("isArray", False) is many
                assert not (field.nullable and (many or field.type == pa.bool_()))


def test_enums_are_stored_by_dictionary_and_rows_in_groups(export: Any, judged: Any) -> None:
    done = export(judged("pfn0xs" * 5), row_group_size=7)
    metadata = pq.read_metadata(done.folder / "trials.parquet")
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [
        *[7] * 4,
        2,
    ]
    group = metadata.row_group(0)
    encodings = {
        group.column(i).path_in_schema: group.column(i).has_dictionary_page
        for i in range(group.num_columns)
    }
    assert encodings["status"]
    assert encodings["verdict"]
    assert not encodings["case_id"]
    assert not encodings["trial"]


def test_long_texts_end_a_row_group_early(
    export: Any, judged: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded whatever the row group size, where texts are included."""
    monkeypatch.setattr(tables, "_HEAVY", 1000)
    run, trials = judged("pfn0")
    long = tuple(
        Trial.model_validate(
            {
                **trial.model_dump(),
                "content": {"input": {"text": "i" * 300}, "outputs": [{"text": "o" * 300}]},
            }
        )
        for trial in trials
    )
    done = export((run, long), policy=ContentPolicy.INCLUDE)
    metadata = pq.read_metadata(done.folder / "trials.parquet")
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [2, 2]
    short = export((run, long), folder=done.folder / "short")
    assert pq.read_metadata(short.folder / "trials.parquet").num_row_groups == 1


def test_private_columns_exist_as_far_as_the_policy_goes(export: Any, tmp_path: Path) -> None:
    names = {}
    for policy in ContentPolicy:
        done = export(kitchen_sink(), policy=policy, folder=tmp_path / policy.value)
        schema = set(pq.read_schema(done.folder / "trials.parquet").names)
        names[policy] = {n for n in schema if n.startswith(("input", "outputs", "messages"))}
        assert f"{policy.value}" in str(verify(done.receipt).content)
    assert names[ContentPolicy.OMIT] == {"input_tokens"}
    assert names[ContentPolicy.DIGEST] - names[ContentPolicy.OMIT] == {
        "input_sha256",
        "outputs_sha256",
        "messages",
    }
    assert names[ContentPolicy.INCLUDE] - names[ContentPolicy.DIGEST] == {"input", "outputs"}


def test_an_integer_that_pandas_rounds_is_noticed(export: Any, judged: Any) -> None:
    run, trials = judged("pp")
    large = trials[0].model_copy(update={"order": 2**53 + 1})
    done = export((run, (large, trials[1])))
    assert (
        "trials.presentation_order holds an integer above 2**53"
        in (done.notices()["croissant.integer_rounded"])
    )
    assert [row["presentation_order"] for row in done.rows("trials")] == [2**53 + 1, None]
    assert readback.main(done.folder, 10) == CLEAN


def test_the_validator_of_mlcroissant_has_nothing_to_say(export: Any, judged: Any) -> None:
    done = export(judged("pfn0xs"), judged("p", "r2"))
    result = subprocess.run(
        [
            str(Path(sys.executable).with_name("mlcroissant")),
            "validate",
            "--jsonld",
            str(done.folder / "croissant.json"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "Done." in result.stderr
    assert "warning" not in result.stderr.lower()
    assert "error" not in result.stderr.lower()


def test_the_checked_dataset_verifies(export: Any) -> None:
    """Through the process that the exporter itself starts."""
    names = example("names")
    done = export((names.run, names.trials), check=True)
    verify(done.receipt)
