from __future__ import annotations

import inspect
from typing import Any

import pytest

from fullcount import errors
from fullcount.losses import SUPPORTED_MODELS, LossMeter, support_keys
from fullcount.model import Run, Trial
from fullcount.notices import Notice, Report, Severity
from fullcount.plugin import Confidence, Context, Support
from fullcount.testing import kitchen_sink

CARRIED = {key: Support("carried", key) for key in support_keys()}


def add(report: Report, code: str = "c", **more: Any) -> None:
    report.add(code, more.pop("severity", Severity.INFO), more.pop("message", "m"), **more)


# -- reports


def test_notices_of_one_kind_are_counted_together() -> None:
    report = Report()
    add(report, path="trial.gates", message="first")
    add(report, path="trial.gates", message="second", count=4)
    add(report, path="trial.seed")
    add(report, plugin="a")
    add(report, plugin="a", count=0)
    assert report.notices() == (
        Notice(code="c", severity="info", path="trial.gates", message="first", count=5),
        Notice(code="c", severity="info", path="trial.seed", message="m"),
        Notice(code="c", severity="info", message="m", count=1, plugin="a"),
    )


def test_memory_of_a_report_is_bounded() -> None:
    report = Report(limit=10)
    for number in range(1000):
        add(report, path=f"/{number}", plugin="p")
    found = report.notices()
    assert len(found) == 11
    assert sum(notice.count for notice in found) == 1000
    assert found[-1].path == "\u2026"
    assert found[-1].count == 990
    add(report, path="/3", plugin="p")
    assert sum(notice.count for notice in report.notices() if notice.path == "/3") == 2


def test_reports_can_be_joined() -> None:
    one, other = Report(), Report()
    add(one, path="a")
    add(other, path="a", count=2)
    add(other, path="b", severity=Severity.WARNING)
    one.extend(other.notices())
    assert [(n.path, n.count, n.severity.value) for n in one.notices()] == [
        ("a", 3, "info"),
        ("b", 1, "warning"),
    ]


def test_surrogates_in_a_notice_are_escaped() -> None:
    report = Report()
    add(report, path="a\ud800", message="b\udfff")
    (notice,) = report.notices()
    assert (notice.path, notice.message) == ("a\\ud800", "b\\udfff")


# -- losses


def meter(changes: dict[str, Support | None]) -> tuple[LossMeter, Report]:
    report = Report()
    table = {key: value for key, value in {**CARRIED, **changes}.items() if value is not None}
    return LossMeter(table, report, "x"), report


def dropped(reason: str = "no room") -> Support:
    return Support("dropped", reason=reason)


def raised(changes: dict[str, Support | None], *records: Run | Trial) -> dict[str, int]:
    losses, report = meter(changes)
    for record in records:
        losses.measure(record)
    losses.report()
    return {notice.path: notice.count for notice in report.notices()}


RUN, TRIALS = kitchen_sink()


def test_nothing_is_lost_where_all_is_carried() -> None:
    assert raised({}, RUN, *TRIALS) == {}


def test_notice_of_a_loss() -> None:
    losses, report = meter({"trial.seed": Support("approximated", "s", "halved")})
    losses.measure(TRIALS[0])
    losses.measure(TRIALS[1])
    losses.report()
    losses.report()
    assert report.notices() == (
        Notice(
            code="field.approximated",
            severity="loss",
            path="trial.seed",
            message="trial.seed is approximated: halved",
            count=1,
            plugin="x",
        ),
    )


def test_field_that_the_table_forgets_is_dropped() -> None:
    losses, report = meter({"trial.seed": None})
    losses.measure(TRIALS[0])
    losses.report()
    (notice,) = report.notices()
    assert notice.code == "field.dropped"
    assert notice.message == (
        "trial.seed is dropped: the exporter's support table does not speak of it"
    )


def test_defaults_are_no_loss() -> None:
    assert raised({key: dropped() for key in support_keys()}, Trial(case_id="")) == {
        "trial.case_id": 1
    }


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ("score.raw", 4),
        ("score.label", 2),
        ("gate.fired", 1),
        ("usage.cost", 3),
        ("metric.threshold", 1),
        ("message.reasoning", 1),
        ("error.type", 3),
        ("error.message", 2),
        ("traceref.span_id", 1),
        ("finding.count", 1),
        ("reportedmetric.nonfinite", 1),
    ],
)
def test_nested_fields_are_counted(field: str, count: int) -> None:
    assert raised({field: dropped()}, RUN, *TRIALS) == {field: count}


def test_what_is_inside_a_dropped_field_is_one_loss() -> None:
    assert raised({"trial.content": dropped(), "content.input": dropped()}, *TRIALS) == {
        "trial.content": 1
    }


def test_kitchen_sink_sets_every_field() -> None:
    everything = raised({key: Support("approximated", "x", "x") for key in CARRIED}, RUN, *TRIALS)
    assert sorted(everything) == support_keys()


def test_support_needs_a_reason_for_a_loss() -> None:
    for kind in ("dropped", "approximated"):
        with pytest.raises(ValueError, match=f"a field that is {kind} needs a reason"):
            Support(kind, "x")  # type: ignore[arg-type]
    assert Support("renamed", "x").reason == ""


def test_support_keys_cover_the_models() -> None:
    assert support_keys() == sorted(set(support_keys()))
    assert {key.partition(".")[0] for key in support_keys()} == {
        model.__name__.lower() for model in SUPPORTED_MODELS
    }


# -- plugins


def test_ids_depend_on_their_parts_alone() -> None:
    one = Context()
    assert one.uuid("a", "b") == Context(tool_version="9").uuid("a", "b")
    assert len({one.uuid("ab"), one.uuid("a", "b"), one.uuid("a,b"), one.uuid("a", "b", "")}) == 4
    assert one.uuid("a").version == 4
    assert one.uuid("\ud800") != one.uuid("?")


def test_confidence_needs_no_reason() -> None:
    assert Confidence(0).reason == ""


# -- errors


def test_tree_in_the_docstring_is_the_tree() -> None:
    text = errors.__doc__ or ""
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.FullcountError):
            assert name in errors.__all__
            line = next(line for line in text.splitlines() if f" {name}" in line)
            shown = [int(word) for word in line.split() if word.isdigit()][:1]
            branch = bool(kind.__subclasses__())
            assert branch or shown == [kind.exit_code], name


def test_exit_codes_are_distinct() -> None:
    leaves = [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind)
        and issubclass(kind, errors.FullcountError)
        and not kind.__subclasses__()
    ]
    codes = [kind.exit_code for kind in leaves]
    assert len(set(codes)) == len(codes) >= 12
    assert 70 not in codes


def test_message_is_one_printable_line() -> None:
    error = errors.InputError("bad\nvalue\x1b[31m", source="a\tb", member="m", line=3, pointer="/x")
    assert str(error) == "a b: m: line 3: /x: bad value\\x1b[31m"
    assert (error.source, error.member, error.line, error.pointer) == ("a\tb", "m", 3, "/x")
    assert errors.quoted("x" * 200) == "'" + "x" * 78 + "\u2026"
    assert errors.quoted("\u202e") == "'\\u202e'"
    assert errors.one_line("a\u2028b\ud800") == "a b\\xd800"
