"""The built wheel in an environment of its own, as a user has it."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.wheel import build

NOBODY = 65534
ADULT = "import shutil; from kanon_sql.data import adult; shutil.copy(adult(), 'adult.parquet')"


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and empty folders in which its commands are run.

    Attributes:
        python: the interpreter.
        root: a folder that everybody may read.
    """

    python: Path
    root: Path
    _kept: dict[str, str] = field(default_factory=dict)

    def folder(self) -> Path:
        """A new and empty folder."""
        made = Path(tempfile.mkdtemp(dir=self.root))
        made.chmod(0o755)
        return made

    def __call__(
        self, *command: str | Path, cwd: Path, stdin: bytes = b"", nobody: bool = False,
        **settings: str | None,
    ) -> subprocess.CompletedProcess[bytes]:
        """What a command of the environment does.

        Args:
            command: ``kanon`` or ``python``, and its arguments.
            cwd: the folder in which it is typed.
            nobody: as a user who may write nowhere and has no home; by root alone.
            settings: variables of the environment; None takes one away.
        """
        program = self.python.parent / command[0]
        told = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
        told["PATH"] = f"{self.python.parent}{os.pathsep}{told['PATH']}"
        for name, text in {"PYTHONPATH": None, **settings}.items():
            told.pop(name, None)
            if text is not None:
                told[name] = text
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if nobody else {}
        return subprocess.run(
            [program, *command[1:]], cwd=cwd, env=told, input=stdin, capture_output=True,
            check=False, timeout=1800, **who,  # type: ignore[call-overload, no-any-return]
        )


def pip(python: Path, *arguments: str | Path) -> None:
    """Has the pip of this environment do something in another."""
    command: Sequence[str | Path] = [sys.executable, "-m", "pip", "--python", python, *arguments]
    done = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the repository as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    build(folder, "--wheel")
    (found,) = folder.glob("*.whl")
    return found


def new_environment(folder: Path) -> Path:
    """The Python of a new environment that has all that kanon_sql needs, and not kanon_sql."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    # a folder that a .pth names is searched, but its own .pth files, as of an editable install of
    # this repository, are not read
    others = [path for path in site.getsitepackages() if Path(path).is_dir()]
    nested = [
        line for path in others for file in Path(path).glob("*.pth")
        for line in file.read_text(encoding="utf-8").splitlines()
        if Path(line).name == "site-packages"
    ]
    below = Path(place.stdout.strip())
    (below / "needed.pth").write_text("\n".join([*others, *nested]) + "\n", encoding="utf-8")
    return python


@pytest.fixture(scope="session")
def installed(wheel: Path) -> Iterator[Installed]:
    """The wheel, installed; its compiled functions are kept where this run keeps all of them."""
    root = Path(tempfile.mkdtemp(prefix="kanon-installed-"))
    root.chmod(0o755)
    python = new_environment(root / "environment")
    pip(python, "install", "--no-deps", "--ignore-installed", wheel)
    yield Installed(python, root)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def folder(installed: Installed) -> Path:
    """A new folder with the file adult.parquet and nothing else."""
    made = installed.folder()
    done = installed("python", "-c", ADULT, cwd=made)
    assert done.returncode == 0, done.stderr
    return made
