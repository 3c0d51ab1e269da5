"""Where a run is filed, and the ids that stay the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullcount.errors import OptionError
from fullcount.model import Run
from fullcount.plugin import Context
from fullcount.registry import make_options
from fullcount_eee import SPEC
from fullcount_eee.identity import Identity, identify
from fullcount_eee.names import INVALID_IN_NAME, WINDOWS_NAMES
from fullcount_eee.options import EeeOptions

if TYPE_CHECKING:
    from collections.abc import Callable


def run(subject: dict[str, Any] | str = "acme/anvil", **more: Any) -> Run:
    base = {
        "id": "run-1",
        "source": {"format": "test", "sha256": "a" * 64},
        "harness": {"name": "harness"},
        "subject": {"id": subject} if isinstance(subject, str) else subject,
        "suite": {"name": "suite"},
    }
    return Run.model_validate({**base, **more})


def of(subject: dict[str, Any] | str, **options: Any) -> Identity:
    return identify(run(subject), make_options(SPEC, options), Context())


@pytest.mark.parametrize(
    ("subject", "folder"),
    [
        ("acme/anvil", "acme/anvil"),
        ("openai/azure/gpt-4o", "openai/azure_gpt-4o"),
        ("acme/anvil:free", "acme/anvil_free"),
        ("together/meta/llama:70b/x", "together/meta_llama_70b_x"),
        ({"id": "gpt2", "provider": "openai"}, "openai/gpt2"),
        ("gpt2", "unspecified/gpt2"),
        ("Ünï/cødé 1", "Ünï/cødé 1"),
    ],
)
def test_folder_follows_from_the_id(subject: dict[str, Any] | str, folder: str) -> None:
    identity = of(subject)
    assert identity.folder == f"data/suite/{folder}"
    assert identity.model_id == (subject if isinstance(subject, str) else subject["id"])


def test_developer_is_stated_only_where_somebody_states_it() -> None:
    assert of("acme/anvil").developer is None
    assert of("acme/anvil", developer="Acme Inc").developer == "Acme Inc"
    assert of("acme/anvil", developer="Acme Inc").folder == "data/suite/acme/anvil"
    assert of({"id": "gpt2", "provider": "openai"}).developer == "openai"
    assert of("gpt2", developer="openai").folder == "data/suite/openai/gpt2"
    assert (of("gpt2").developer, of("gpt2").developer_stated) == ("unspecified", False)
    assert of("gpt2", developer="openai").developer_stated


def test_what_nobody_states_is_noticed(export: Callable[..., Any]) -> None:
    notices = export(run("gpt2"), ()).notices
    assert notices["eee.developer_unstated"].severity == "warning"
    assert "organization and relationship" in notices["eee.unstated"].message
    stated = export(run("gpt2"), (), developer="openai", organization="me", relationship="other")
    assert not {"eee.developer_unstated", "eee.unstated"} & stated.notices.keys()


def test_id_that_no_folder_can_have_is_changed_and_kept(export: Callable[..., Any]) -> None:
    out = export(run("acme/<anvil>?"), ())
    model = out.aggregate["model_info"]
    assert model["id"].startswith("acme/_anvil__-")
    assert model["name"] == "acme/<anvil>?"
    assert model["additional_details"]["subject_id"] == "acme/<anvil>?"
    assert out.path.parent.name == model["id"].removeprefix("acme/")
    assert out.notices["eee.model_id_changed"].severity == "warning"
    assert "eee.model_id_changed" not in export(run("acme/anvil"), ()).notices


def test_options_are_published(export: Callable[..., Any]) -> None:
    out = export(
        run("local-path"),
        (),
        model_id="acme/anvil",
        collection="my/suite",
        organization="Acme",
        organization_url="https://acme.example",
        relationship="first_party",
        deployment_type="self_deployed",
        model_availability="open_weights",
        inference_platform="Cloud",
        inference_engine="vLLM",
        inference_engine_version="1",
    )
    assert out.path.relative_to(out.folder).as_posix().startswith("data/my_suite/acme/anvil/")
    assert out.aggregate["model_info"] == {
        "name": "local-path",
        "id": "acme/anvil",
        "inference_platform": "Cloud",
        "inference_engine": {"name": "vLLM", "version": "1"},
        "additional_details": {
            "deployment_type": "self_deployed",
            "model_availability": "open_weights",
            "subject_id": "local-path",
        },
    }
    source = out.aggregate["source_metadata"]
    assert source["source_organization_name"] == "Acme"
    assert source["source_organization_url"] == "https://acme.example"
    assert source["evaluator_relationship"] == "first_party"
    assert "eee.model_id_changed" not in out.notices


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("developer", "unknown"),
        ("developer", ""),
        ("model_id", "acme//anvil"),
        ("model_id", "acme/CON.txt"),
        ("collection", "data"),
        ("collection", "a?"),
        ("relationship", "friend"),
        ("deployment_type", "cloud"),
    ],
)
def test_options_that_the_format_refuses(option: str, value: str) -> None:
    with pytest.raises(OptionError, match=f"option '{option}'"):
        make_options(SPEC, {option: value})


def test_ids_do_not_depend_on_the_clock_or_the_options() -> None:
    late = Context(now=datetime(2030, 1, 1, tzinfo=UTC))
    for given_run in (run(), run(started_at="2026-01-01T00:00:00Z")):
        one = identify(given_run, EeeOptions(), Context())
        two = identify(given_run, EeeOptions(organization="me"), late)
        assert one == two
    assert one.evaluation_id == f"suite/acme_anvil/1767225600-{one.uuid[:8]}"
    assert (one.uuid[14], one.uuid[19] in "89ab") == ("4", True)


def test_runs_that_start_together_stay_apart() -> None:
    time = "2026-01-01T00:00:00Z"
    one = identify(run(started_at=time), EeeOptions(), Context())
    for other in (
        run(started_at=time, id="run-2"),
        run(started_at=time, source={"format": "test", "sha256": "b" * 64}),
    ):
        two = identify(other, EeeOptions(), Context())
        assert one.evaluation_id != two.evaluation_id
        assert one.uuid != two.uuid


def test_collection_is_the_dataset_else_the_suite() -> None:
    assert of("a/b").collection == "suite"
    suite = {"name": "suite", "dataset": "owner/data:v1"}
    identity = identify(run("a/b", suite=suite), EeeOptions(), Context())
    assert identity.collection == "owner_data_v1"
    assert identity.evaluation_id.startswith("owner_data_v1/a_b/")


def addressed(model_id: str, developer: str | None) -> tuple[str, str]:
    """Developer and model folder, by the rule that the upstream validator documents."""
    parts = model_id.strip().split("/")
    assert all(parts)
    if len(parts) == 1:
        assert developer is not None
        parts = [developer, *parts]
    for part in parts:
        assert part == part.strip()
        assert part.lower() != "unknown"
        name = part.replace(":", "_")
        assert name not in {"data", ".", ".."}
        assert INVALID_IN_NAME.search(name) is None
        assert not name.endswith((".", " "))
        assert name.split(".")[0].upper() not in WINDOWS_NAMES
    first, *rest = (part.replace(":", "_") for part in parts)
    return first, "_".join(rest)


AWKWARD = st.one_of(
    st.text(min_size=1, max_size=300).filter(lambda text: text.isprintable() or text.isascii()),
    st.lists(
        st.sampled_from(
            ["", "a", "unknown", "CON", "lpt1.x", "data", "..", "a.", " b", ":", "é" * 99, "\x07"]
        ),
        min_size=1,
        max_size=5,
    ).map("/".join),
).filter(bool)


@settings(deadline=None)
@given(AWKWARD, AWKWARD)
def test_any_name_is_filed_where_its_id_points(subject: str, other: str) -> None:
    suite = {"name": other}
    for given_run in (
        run(subject, suite=suite),
        run({"id": "flat", "provider": other}, suite={"name": subject}),
    ):
        identity = identify(given_run, EeeOptions(), Context())
        root, collection, developer, model = identity.folder.split("/")
        assert (root, collection) == ("data", identity.collection)
        assert addressed(identity.model_id, identity.developer) == (developer, model)
        assert addressed(collection, "x")[1] == collection
        for part in (collection, developer, model):
            assert len(part.encode()) <= 255
            assert not part.startswith(".")
            assert part.isprintable()


@settings(deadline=None)
@given(AWKWARD, AWKWARD)
def test_two_names_stay_two(one: str, two: str) -> None:
    if one != two:
        assert of(f"acme/{one}").model_id != of(f"acme/{two}").model_id
