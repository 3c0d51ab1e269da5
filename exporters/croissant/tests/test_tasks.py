"""The Tasks file against the official shapes, and what the shapes refuse."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import rdflib

pyshacl = pytest.importorskip("pyshacl")

SHAPES = Path(__file__).parents[4] / "shared" / "schemas" / "croissant_tasks_0.1.0"
official = pytest.mark.skipif(not SHAPES.is_dir(), reason="the official shapes are not here")

# The shape of a TaskProblem has a property shape without a path, which SHACL does not allow: a
# processor refuses the whole file of shapes as soon as there is a TaskProblem. This is the
# shape's own wording, put where SHACL wants it; every other shape is used as it is published.
BROKEN = """  sh:property [
    sh:or (
      [ sh:path croissant:input ; sh:class croissant:InputSpec ]
      [ sh:path croissant:output ; sh:class croissant:OutputSpec ]
      [ sh:path croissant:implementation ; sh:class croissant:ImplementationSpec ]
    ) ;
    sh:minCount 1 ;
"""
REPAIRED = """  sh:or (
    [ sh:path croissant:input ; sh:qualifiedValueShape [ sh:class croissant:InputSpec ] ;
      sh:qualifiedMinCount 1 ]
    [ sh:path croissant:output ; sh:qualifiedValueShape [ sh:class croissant:OutputSpec ] ;
      sh:qualifiedMinCount 1 ]
    [ sh:path croissant:implementation ; sh:qualifiedMinCount 1 ;
      sh:qualifiedValueShape [ sh:class croissant:ImplementationSpec ] ]
  ) ;
  sh:property [
    sh:path croissant:subTask ;
"""


def published() -> str:
    return (SHAPES / "croissant-tasks-shapes.ttl").read_text()


def repaired() -> str:
    text = published()
    assert text.count(BROKEN) == 1
    return text.replace(BROKEN, REPAIRED)


def problems(document: dict[str, Any], shapes: str) -> list[str]:
    """What the shapes do not accept, in their words."""
    data = rdflib.Graph().parse(data=json.dumps(document), format="json-ld")
    conforms, results, _ = pyshacl.validate(
        data,
        shacl_graph=rdflib.Graph().parse(data=shapes, format="turtle"),
        ont_graph=rdflib.Graph().parse(SHAPES / "croissant-tasks.ttl"),
        inference="rdfs",
    )
    message = rdflib.URIRef("http://www.w3.org/ns/shacl#resultMessage")
    found = sorted({str(text) for text in results.objects(predicate=message)})
    assert conforms is not bool(found)
    return found


@pytest.fixture
def document(export: Any, judged: Any) -> dict[str, Any]:
    done = export(judged("pfn0xs"), judged("pp", "r2", "acme/anvil-2"))
    found: dict[str, Any] = json.loads((done.folder / "croissant-tasks.jsonld").read_bytes())
    return found


def node(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """The first node of a kind, to be changed."""
    found: dict[str, Any] = next(
        node for node in document["@graph"] if node["@type"] == f"croissant:{kind}"
    )
    return found


def results(document: dict[str, Any]) -> dict[str, Any]:
    task = node(document, "EvaluationTask")
    return {
        r["croissant:metric"]: r["croissant:value"] for r in task["croissant:evaluationResults"]
    }


@official
def test_the_file_keeps_the_shapes(document: dict[str, Any]) -> None:
    assert problems(document, repaired()) == []


@official
def test_all_but_the_problem_keeps_the_shapes_as_published(document: dict[str, Any]) -> None:
    rest = [n for n in document["@graph"] if n["@type"] != "croissant:TaskProblem"]
    assert len(rest) == len(document["@graph"]) - 1
    assert problems({**document, "@graph": rest}, published()) == []


@official
def test_the_defect_of_the_published_shapes_is_still_there(document: dict[str, Any]) -> None:
    """When this fails the shapes are repaired, and `repaired` can go."""
    with pytest.raises(Exception, match="not a well-formed SHACL PropertyShape"):
        problems(document, published())


@official
def test_the_shapes_refuse_what_they_should(document: dict[str, Any]) -> None:
    """Each change breaks one rule: the file above does not pass for want of rules."""

    def after(change: Any) -> list[str]:
        changed = copy.deepcopy(document)
        change(changed)
        return problems(changed, repaired())

    def first(changed: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = node(changed, "EvaluationTask")["croissant:evaluationResults"][0]
        return found

    def value(new: Any) -> Any:
        return lambda changed: first(changed).update({"croissant:value": new})

    required = "croissant:value must be a QuantitativeValue, string, or number, and is required."
    assert after(value(0.5)) == [required]  # a JSON float is an xsd:double
    assert after(value(True)) == [required]  # noqa: FBT003 - a value of the file
    assert after(value(None)) == [required]
    assert after(lambda d: first(d).pop("croissant:metric")) == [
        "croissant:metric must be a string or a URL, and is required."
    ]
    assert after(lambda d: node(d, "EvaluationTask").pop("croissant:evaluatedSolution")) == [
        "croissant:evaluatedSolution must point to exactly one TaskSolution."
    ]
    assert after(lambda d: node(d, "TaskSolution").pop("schema:isBasedOn")) == [
        "A TaskSolution must be formally linked to a TaskProblem via schema:isBasedOn."
    ]
    assert after(lambda d: node(d, "TaskProblem").pop("croissant:implementation")) != []


def test_counts_are_integers_and_rates_have_bounds(document: dict[str, Any]) -> None:
    found = results(document)
    assert {name: value for name, value in found.items() if name.startswith("exact/n_")} == {
        "exact/n_total": 6,
        "exact/n_sought": 5,
        "exact/n_unverified": 3,
        "exact/n_excluded": 1,
        "exact/n_scored": 2,
        "exact/n_null": 1,
        "exact/n_nan": 1,
        "exact/n_error": 0,
        "exact/n_missing": 0,
        "exact/n_not_measured": 1,
        "exact/n_skipped": 1,
        "exact/n_not_applicable": 0,
    }
    rate = found["exact/mean"]
    assert rate["@type"] == "schema:QuantitativeValue"
    assert {key: rate[f"schema:{key}"] for key in ("value", "minValue", "maxValue")} == {
        "value": {"@value": "0.5", "@type": "xsd:decimal"},
        "minValue": {"@value": "0.2", "@type": "xsd:decimal"},
        "maxValue": {"@value": "0.8", "@type": "xsd:decimal"},
    }
    assert found["exact/mean/standard_error"] == {"@value": "0.5", "@type": "xsd:decimal"}
    assert (found["trials/total"], found["trials/status/harness_error"]) == (6, 1)


def test_nothing_scored_has_bounds_and_counts_but_no_value(document: dict[str, Any]) -> None:
    found = results(document)
    rate = found["judge.quality/mean"]
    assert "schema:value" not in rate
    assert rate["schema:minValue"]["@value"] == "0.0"
    assert rate["schema:maxValue"]["@value"] == "10.0"
    assert rate["schema:unitText"] == "points"
    assert rate["schema:description"].startswith("Over 0 of 6 trials sought")
    assert (found["judge.quality/n_scored"], found["judge.quality/n_error"]) == (0, 5)
    # Labels on an open scale: neither a value nor a bound, only counts.
    assert "judge.style/mean" not in found
    assert found["judge.style/n_scored"] == 5


def test_one_problem_for_runs_on_one_suite(document: dict[str, Any]) -> None:
    kinds = [node["@type"].partition(":")[2] for node in document["@graph"]]
    assert kinds == ["TaskProblem", *["TaskSolution", "EvaluationTask"] * 2]
    problem, solution, evaluation, other, _ = document["@graph"]
    assert solution["schema:isBasedOn"] == other["schema:isBasedOn"] == {"@id": problem["@id"]}
    assert solution["croissant:evaluation"] == {"@id": evaluation["@id"]}
    assert evaluation["croissant:evaluatedSolution"] == {"@id": solution["@id"]}
    assert evaluation["schema:identifier"] == "r1"
    assert solution["croissant:implementation"]["schema:name"] == "acme/anvil-1"
    assert solution["croissant:implementation"]["schema:softwareVersion"] == "v9"
    assert problem["croissant:input"] == {"@id": "https://example.org/nails"}
    assert other["croissant:output"] == {"@id": solution["croissant:output"]["@id"]}


@pytest.mark.parametrize(
    ("value", "written"),
    [(1e-7, "0.0000001"), (1e22, "10000000000000000000000"), (2 / 3, repr(2 / 3)), (-0.5, "-0.5")],
)
def test_a_decimal_has_every_digit_and_no_exponent(
    export: Any, judged: Any, value: float, written: str
) -> None:
    run, trials = judged("p")
    scores = trials[0].scores
    changed = scores[2].model_copy(update={"value": value})
    trial = trials[0].model_copy(update={"scores": (*scores[:2], changed)})
    done = export((run, (trial,)))
    tasks = {"@graph": done.tasks}
    found = results(tasks)["judge.style/mean"]["schema:value"]["@value"]
    assert found == written
    assert float(found) == value


def test_the_file_can_be_left_out(export: Any, judged: Any) -> None:
    done = export(judged("p"), tasks=False)
    assert not (done.folder / "croissant-tasks.jsonld").exists()
    assert (done.folder / "croissant.json").exists()
