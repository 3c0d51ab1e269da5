"""The dataset card."""

from __future__ import annotations

import json
from typing import Any


def test_the_card_has_the_counts_first(export: Any, judged: Any) -> None:
    done = export(judged("pfn0xs"), judged("pp", "r2", "acme/anvil-2"))
    text = (done.folder / "README.md").read_text()
    head, _, body = text.removeprefix("---\n").partition("---\n")
    assert json.loads(head.splitlines()[0].removeprefix("pretty_name: ")) == (
        "Evaluation of 2 subjects on hammering"
    )
    assert '- config_name: trials\n  data_files: ["trials.parquet", "trials_0002.parquet"]' in head
    titles = [line for line in body.splitlines() if line.startswith("#")]
    assert titles == [
        "# Evaluation of 2 subjects on hammering",
        "## Counts",
        "## What is missing",
        "## What to know",
        "## Files",
        "## Licence and citation",
    ]
    rows = [line for line in body.splitlines() if line.startswith("| acme/anvil-1 | hammering |")]
    statuses, verdicts = "5 | 0 | 1 | 0 | 0 | 0 | 0", "0 | 0 | 1 | 0 | 0 | 5"
    assert rows == [
        f"| acme/anvil-1 | hammering | r1 | 6 | {statuses} | {verdicts} | 0 | 0 | 0 to 0.833333 |",
        "| acme/anvil-1 | hammering | exact | 6 | 5 | 2 | 3 | 1 | 0.5 | 0.2 to 0.8 | 0.5 |",
        "| acme/anvil-1 | hammering | judge.quality | 6 | 6 | 0 | 6 | 0 | none | 0 to 10 | none |",
        "| acme/anvil-1 | hammering | judge.style | 6 | 6 | 5 | 1 | 0 | none | unbounded | none |",
    ]
    assert "  - exact: 2 of 5 trials sought have a score; 3 have none" in body
    assert "Licence: CC-BY-4.0" in body


def test_a_name_from_a_log_stays_text(export: Any, judged: Any) -> None:
    run, trials = judged("p", subject="a | b`c` <script>\n# head\u2028[x](y)")
    done = export((run, trials))
    text = (done.folder / "README.md").read_text()
    assert "\n# head" not in text
    assert "<script>" not in text.partition("---\n# ")[2].replace("\\<script\\>", "")
    assert r"| a \| b\`c\` \<script\> \# head \[x\](y) | hammering |" in text


def test_many_runs_are_listed_in_part_and_said_so(export: Any, judged: Any) -> None:
    done = export(*(judged("x", f"r{number}") for number in range(52)))
    text = (done.folder / "README.md").read_text()
    assert "- 2 more runs miss something: see `summary.parquet`." in text
    assert "2 more rows are in `runs.parquet`." in text
    assert "106 more rows are in `summary.parquet`." in text
    assert len(done.rows("runs")) == 52
    found = done.description
    assert "2 more runs miss something" in found["rai:dataCollectionMissingData"]
    assert (
        "2 more evaluations are in runs.parquet" in (found["prov:wasGeneratedBy"][-1]["prov:label"])
    )
    notices = done.notices()
    assert notices["croissant.variables_capped"].startswith("variableMeasured lists 100 metrics")
    assert notices["croissant.annotations_capped"].startswith("the counts of 24 metrics")
