"""What can be set, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from fullcount.convert import Target
from fullcount.errors import (
    ExportError,
    MissingDependencyError,
    OptionError,
    SinkError,
    VerificationError,
)
from fullcount.receipts import verify
from fullcount_croissant import check, readback
from fullcount_croissant.options import parse_creator

if TYPE_CHECKING:
    from pathlib import Path

RAI = {
    "data_biases": "English only",
    "personal_sensitive_information": "none",
    "data_use_cases": "comparing anvils",
    "data_social_impact": "small",
    "has_synthetic_data": False,
}
CLEAN = {"errors": [], "warnings": [], "differences": []}


def test_everything_that_is_set_is_published(export: Any, judged: Any) -> None:
    done = export(
        judged("p"),
        name="Anvils",
        description="How well anvils hammer.",
        license="https://example.org/licence",
        creators=["Acme <https://acme.example>", "person: Jane Doe"],
        url="https://example.org/anvils",
        citation="Doe (2026)",
        version="2.1",
        date="2026-02-03",
        keywords=["anvil"],
        data_limitations="Ten nails only.",
        **RAI,
    )
    found = done.description
    expected = {
        "name": "Anvils",
        "description": "How well anvils hammer.",
        "license": "https://example.org/licence",
        "url": "https://example.org/anvils",
        "creator": [
            {"@type": "Organization", "name": "Acme", "url": "https://acme.example"},
            {"@type": "Person", "name": "Jane Doe"},
        ],
        "citeAs": "Doe (2026)",
        "version": "2.1.0",
        "datePublished": "2026-02-03",
        "keywords": ["anvil", "evaluation", "hammering", "acme/anvil-1"],
        "rai:dataBiases": "English only",
        "rai:personalSensitiveInformation": "none",
        "rai:dataUseCases": "comparing anvils",
        "rai:dataSocialImpact": "small",
        "rai:hasSyntheticData": False,
    }
    assert {key: found[key] for key in expected} == expected
    assert found["rai:dataLimitations"][0] == "Ten nails only."
    assert done.notices() == {}
    assert readback.main(done.folder, 10) == CLEAN


def test_what_is_not_set_is_named(export: Any, judged: Any) -> None:
    done = export(judged("p"), data_biases="known")
    assert done.notices() == {
        "croissant.property_missing": "Croissant 1.1 asks for url and creators; set them as "
        "options",
        "croissant.rai_missing": "the minimal RAI set of NeurIPS asks for "
        "rai:personalSensitiveInformation (personal_sensitive_information), rai:dataUseCases "
        "(data_use_cases), rai:dataSocialImpact (data_social_impact), rai:hasSyntheticData "
        "(has_synthetic_data); set them as options",
    }
    found = done.description
    assert found["name"] == "Evaluation of acme/anvil-1 on hammering"
    assert found["datePublished"] == date(2026, 5, 6).isoformat()
    assert found["citeAs"] == f"{found['name']}. version 1.0.0. 2026-05-06"
    assert found["description"].startswith("Results of 1 evaluation run with 1 trial, as recorded")


def test_a_base_url_makes_every_content_url_absolute(export: Any, judged: Any) -> None:
    base = "https://example.org/data sets/x/".replace(" ", "%20")
    done = export(judged("pf"), judged("p", "r2"), base_url=base)
    urls = [n["contentUrl"] for n in done.description["distribution"] if "contentUrl" in n]
    assert urls[:2] == [f"{base}trials.parquet", f"{base}trials_0002.parquet"]
    assert (
        "mlcroissant reads a table of several files only" in (done.notices()["croissant.local_set"])
    )
    assert readback.main(done.folder, 10) == CLEAN


def test_without_partitions_no_row_group_holds_two_runs(export: Any, judged: Any) -> None:
    done = export(judged("pfn"), judged("p0", "r2"), partition=False, row_group_size=2)
    (path,) = done.folder.glob("trials*.parquet")
    with pq.ParquetFile(path) as file:
        groups = [
            file.read_row_group(i, columns=["run_id", "trial"]).to_pylist()
            for i in range(file.num_row_groups)
        ]
    assert [[(row["run_id"], row["trial"]) for row in group] for group in groups] == [
        [("r1", 0), ("r1", 1)],
        [("r1", 2)],
        [("r2", 0), ("r2", 1)],
    ]
    assert not any(n["@type"] == "cr:FileSet" for n in done.description["distribution"])
    verify(done.receipt)


def test_a_large_table_is_split_into_a_file_set(export: Any, judged: Any) -> None:
    run, trials = judged("pf" * 900)
    noisy = tuple(trial.model_copy(update={"case_id": os.urandom(100).hex()}) for trial in trials)
    done = export((run, noisy), max_file_size=1 << 16, row_group_size=300)
    nodes = {node["@id"]: node for node in done.description["distribution"]}
    names = [name for name in nodes if name.startswith("trials") and name.endswith(".parquet")]
    assert names == [
        "trials.parquet",
        "trials_0002.parquet",
        "trials_0003.parquet",
    ]
    assert nodes["trials-files"]["includes"] == names
    assert [row["case_id"] for row in done.rows("trials")] == [trial.case_id for trial in noisy]
    for name in names:
        assert nodes[name]["contentSize"] == f"{(done.folder / name).stat().st_size} B"
    assert readback.main(done.folder, 20) == CLEAN
    verify(done.receipt)


def test_a_smaller_dataset_leaves_no_file_of_the_larger(export: Any, judged: Any) -> None:
    export(judged("p"), judged("f", "r2"), judged("f", "r3"))
    done = export(judged("p"), judged("f", "r2"))
    assert sorted(path.name for path in done.folder.glob("scores*")) == [
        "scores.parquet",
        "scores_0002.parquet",
    ]
    verify(done.receipt)


def test_a_table_of_somebody_else_is_not_removed_but_found(export: Any, judged: Any) -> None:
    done = export(judged("p"))
    stranger = done.folder / "trials_0002.parquet"
    stranger.write_bytes((done.folder / "trials.parquet").read_bytes())
    with pytest.raises(VerificationError, match=r"trials_0002.parquet: is no file of this dataset"):
        verify(done.receipt)
    export(judged("p"))
    assert stranger.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "example.org"}, "option 'url': .*absolute http or https URL"),
        ({"url": "https://exa mple.org"}, "option 'url': .*without spaces"),
        ({"url": "https://[::1"}, "option 'url': .*absolute http"),
        ({"url": "https://example.org:port/"}, "option 'url': .*absolute http"),
        ({"base_url": "ftp://example.org/x"}, "option 'base_url': .*absolute http"),
        ({"base_url": "https://me:secret@example.org/"}, "option 'base_url': .*password"),
        ({"creators": ["Acme <acme.example>"]}, "option 'creators.0': .*absolute http"),
        ({"creators": ["<https://acme.example>"]}, "option 'creators.0': .*must be like"),
        ({"version": "v2026"}, "option 'version': .*MAJOR.MINOR.PATCH"),
        ({"date": "May 1 2026"}, "option 'date': "),
        ({"license": " "}, "option 'license': "),
        ({"row_group_size": "0"}, "option 'row_group_size': "),
        ({"has_synthetic_data": "perhaps"}, "option 'has_synthetic_data': "),
    ],
)
def test_a_bad_option_is_one_line(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        Target.named("croissant", tmp_path, options)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_without_a_license_nothing_is_written(export: Any, judged: Any, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"option 'license': is missing, .* license=CC-BY-4.0"):
        export(judged("p"), license=None)
    assert list(tmp_path.iterdir()) == []


def test_without_mlcroissant_the_check_is_refused_first(
    export: Any, judged: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'fullcount\[croissant\]'"):
        export(judged("p"), check=True)
    assert list(tmp_path.iterdir()) == []


def test_one_run_twice_is_refused(export: Any, judged: Any, tmp_path: Path) -> None:
    done = export(judged("p"), judged("p"), fails=True)
    error = done.results[1].error
    assert isinstance(error, ExportError)
    assert str(error) == (
        "run 'r1' is in 'r1.log' and again in 'r1.log': its trials would count twice; leave one "
        "of them out"
    )
    assert done.results[-1].receipts == {}
    assert list(tmp_path.iterdir()) == []


def test_names_with_spaces_are_no_trouble(export: Any, judged: Any) -> None:
    run, trials = judged("pf")
    names = {"exact": "is it / exact?", "judge": "the\u00a0judge's #1"}
    pair = (
        run.model_copy(
            update={
                "id": "run of today",
                "evaluators": tuple(
                    e.model_copy(update={"name": names[e.name]}) for e in run.evaluators
                ),
            }
        ),
        tuple(
            t.model_copy(
                update={
                    "scores": tuple(
                        s.model_copy(update={"evaluator": names[s.evaluator]}) for s in t.scores
                    )
                }
            )
            for t in trials
        ),
    )
    done = export(pair)
    assert readback.main(done.folder, 10) == CLEAN
    notes = [n["@id"] for r in done.description["recordSet"] for n in r.get("annotation", ())]
    assert "summary/count/run~20of~20today/is~20it~20~2F~20exact~3F/exact/n_sought" in notes


def test_a_folder_that_cannot_be_is_one_line(export: Any, judged: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(SinkError, match=r"file/dataset: cannot be written"):
        export(judged("p"), folder=tmp_path / "file" / "dataset")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of a file's size")
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """A limit of the system, met while Arrow writes."""
    code = f"""
import resource, signal, sys
from pathlib import Path
from fullcount.convert import Target
from fullcount.testing import example, export_run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
target = Target.named(
    "croissant", Path({str(tmp_path / "dataset")!r}), {{"license": "MIT", "check": False}}
)
trials = example("plain").trials[:1] * 3000
trials = [t.model_copy(update={{"case_id": str(n ** 9)}}) for n, t in enumerate(trials)]
result = export_run(example("plain").run, trials, target)
print(type(result.error).__name__, result.error)
"""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    assert line.startswith("SinkError ")
    assert line.endswith(".parquet: cannot be written: File too large")
    assert list(tmp_path.iterdir()) == []


def test_a_creator_has_a_type_a_name_and_a_url() -> None:
    assert parse_creator("Acme") == ("Organization", "Acme", None)
    assert parse_creator(" Person : Jane  Doe <https://x.example/a> ") == (
        "Person",
        "Jane  Doe",
        "https://x.example/a",
    )
