"""What needs no extra works where no extra is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fullcount.registry import exporters, readers

EXAMPLE = Path(__file__).parent.parent / "examples" / "capitals.eval"

# Everything is installed where tests run, so what the extras bring is hidden.
HIDE = """
import sys
from importlib.abc import MetaPathFinder

EXTRAS = {"google", "mlcroissant", "opentelemetry", "pandas", "pyarrow"}

class Hidden(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def run(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDE + code, *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def fullcount(*args: str) -> subprocess.CompletedProcess[str]:
    return run("from fullcount.cli import main\nsys.exit(main(sys.argv[1:]))", *args)


@pytest.mark.parametrize(
    "name", [e.name for e in exporters().entries() if e.spec and not e.spec.requires]
)
def test_exporter_without_requirements(name: str, tmp_path: Path) -> None:
    done = fullcount("convert", str(EXAMPLE), "--to", name, "-o", str(tmp_path / "out"))
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
    done = fullcount("verify", str(tmp_path / "out"), "--source", str(EXAMPLE))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name", [e.name for e in exporters().entries() if e.spec and e.spec.requires]
)
def test_exporter_with_requirements_names_the_line(name: str, tmp_path: Path) -> None:
    done = fullcount("convert", str(EXAMPLE), "--to", name, "-o", str(tmp_path / "out"))
    assert done.returncode == 13
    assert f"run: pip install 'fullcount[{name}]'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_endpoint_names_the_line(tmp_path: Path) -> None:
    out = ("-o", str(tmp_path / "out"), "-O", "endpoint=http://127.0.0.1:9")
    done = fullcount("convert", str(EXAMPLE), "--to", "otel", *out)
    assert done.returncode == 13
    assert "run: pip install 'fullcount[otel]'" in done.stderr


@pytest.mark.parametrize("name", [e.name for e in readers().entries() if e.spec])
def test_reader(name: str) -> None:
    spec = readers().get(name)
    done = run(
        "from fullcount.registry import load_object, readers\n"
        f"spec = readers().get({name!r})\n"
        "print(load_object(spec, spec.reader).__name__, load_object(spec, spec.sniff).__name__)",
    )
    assert spec.requires == ()
    assert done.stdout == f"{spec.reader.rpartition(':')[2]} {spec.sniff.rpartition(':')[2]}\n", (
        done.stderr
    )
