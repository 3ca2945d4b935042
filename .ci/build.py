"""Builds the source distribution, and from it the wheel, with the same bytes on every machine.

    python .ci/build.py dist

setuptools keeps the times and modes of the files that it finds, so the archive is packed again. The
bytes still depend on the versions of setuptools and zlib: requirements-dev.lock pins the former.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]


def build(what: str, source: Path, to: Path) -> Path:
    """Builds 'sdist' or 'wheel', by the setuptools that is installed; the file."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{what}", "--outdir", str(to)]
    subprocess.run([*command, str(source)], check=True, stdout=subprocess.DEVNULL)
    (made,) = to.glob("*.tar.gz" if what == "sdist" else "*.whl")
    return made


def pack_again(archive: Path, to: Path, moment: int) -> None:
    """The same files in the order of their names, all of one moment, of nobody."""
    with tarfile.open(archive) as old, to.open("wb") as file, gzip.GzipFile(
        filename="", mode="wb", fileobj=file, mtime=moment
    ) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, moment
            plain.mode = 0o755 if member.isdir() else 0o644
            new.addfile(plain, old.extractfile(member) if member.isfile() else None)


def main(to: Path) -> None:
    """Builds both into a folder."""
    os.umask(0o022)
    if "SOURCE_DATE_EPOCH" not in os.environ:
        command = ["git", "log", "-1", "--format=%ct"]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        os.environ["SOURCE_DATE_EPOCH"] = done.stdout.strip()
    to.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        first, unpacked, last = (Path(folder) / name for name in ("first", "unpacked", "last"))
        archive = build("sdist", ROOT, first)
        source = to / archive.name
        pack_again(archive, source, int(os.environ["SOURCE_DATE_EPOCH"]))
        with tarfile.open(source) as packed:
            packed.extractall(unpacked)
        (tree,) = unpacked.iterdir()
        wheel = build("wheel", tree, last)
        (to / wheel.name).write_bytes(wheel.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve())
