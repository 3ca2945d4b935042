"""What a system allows too little of: room, files, memory, rights; and inputs that change."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.faults.doors import SEED
from tests.faults.judged import FAULT, Kind
from tests.faults.process import forked
from tests.faults.table import Judged

ANY = Kind((2, 3, 4))
FEW = Kind((2, 3, 4), drafts=True)
"""To take a draft away its folder has to be opened: the next run does what can't be done then."""
"""Where a folder can't be read or written, what is typed can't be used."""
ABORTED = Kind((4, -6, -11), speaks=False, drafts=True, resumes=True)
"""Where memory ends in a library that can't say so, the system ends the process."""
OTHER_USER = 65_534


def limits(judged: Judged, until: float) -> None:
    """All limits, each in some steps that are drawn, until no time is left."""
    runs = judged.runs
    while time.monotonic() < until:
        for limit in (
            _little_room, _small_files, _few_files, _little_memory, _memory_limit, _no_rights
        ):
            if time.monotonic() < until:
                runs.place.fill()
                limit(judged)


def _little_room(judged: Judged) -> None:
    """A disk of a few pages, where a disk may be mounted."""
    place = judged.runs.place
    pages = judged.runs.chance.randrange(12, 120)
    whole = place.root / "whole"
    place.path.rename(whole)
    place.path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={pages * 4096 + _size(whole)}", "none", place.path],
        capture_output=True, check=False,
    )
    subprocess.run(["cp", "-a", f"{whole}/.", place.path], check=True)
    subprocess.run(["rm", "-r", whole], check=True)
    if mounted.returncode:
        return

    def more_room() -> None:
        subprocess.run(["mount", "-o", "remount,size=1g", place.path], check=True)

    try:
        ended = forked(place, judged.door, SEED)
        judged.check("full disk", f"{pages} pages left", ended, repair=more_room)
    finally:
        subprocess.run(["umount", place.path], check=True)


def _size(folder: Path) -> int:
    """Bytes of whole pages."""
    sizes = [path.stat().st_size for path in folder.rglob("*")]
    return sum((size + 4095) // 4096 * 4096 + 4096 for size in sizes)


def _small_files(judged: Judged) -> None:
    size = judged.runs.chance.randrange(200, 12_000)
    judged.check("small files", f"{size} bytes", forked(
        judged.runs.place, judged.door, SEED,
        limits=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    ))


def _few_files(judged: Judged) -> None:
    more = judged.runs.chance.randrange(0, 25)

    def few() -> None:
        most = len(list(Path("/proc/self/fd").iterdir())) + more
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    judged.check("few open files", f"{more} more", forked(
        judged.runs.place, judged.door, SEED, limits=few
    ), FEW)


def _little_memory(judged: Judged) -> None:
    more = judged.runs.chance.randrange(0, 600) << 20

    def little() -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    judged.check("little memory", f"{more >> 20} MiB more", forked(
        judged.runs.place, judged.door, SEED, limits=little
    ), ABORTED)


def _memory_limit(judged: Judged) -> None:
    """DuckDB may take a few MB in all its connections."""
    megabytes = judged.runs.chance.randrange(1, 60)

    def limit() -> None:
        import duckdb

        connect = duckdb.connect

        def limited(*named: Any, config: dict[str, Any] | None = None, **more: Any) -> Any:
            held = {**(config or {}), "memory_limit": f"{megabytes}MB"}
            return connect(*named, config=held, **more)

        duckdb.connect = limited

    judged.check("memory_limit", f"{megabytes} MB", forked(
        judged.runs.place, judged.door, SEED, limits=limit
    ))


def _no_rights(judged: Judged) -> None:
    """Folders that another user may read, and not write to."""
    if os.geteuid() != 0:
        return
    place, chance = judged.runs.place, judged.runs.chance
    outputs = sorted({str(Path(each).parent) for each in judged.door.outputs})
    closed = place.path / chance.choice(outputs)
    above = [*_above(place.root)]
    before = {path: path.stat() for path in above}
    for path in above:
        path.chmod(path.stat().st_mode | 0o711)
    for path in [place.path, *place.path.rglob("*")]:
        os.chown(path, OTHER_USER, OTHER_USER)
    os.chown(place.root / "said", OTHER_USER, OTHER_USER)
    os.chown(closed, 0, 0)
    closed.chmod(0o755)
    place_before, place.before = place.before, place.holds()
    kept = place.root / "said"

    def other() -> None:
        os.setgroups([])
        os.setgid(OTHER_USER)
        os.setuid(OTHER_USER)

    try:
        ended = forked(place, judged.door, SEED, limits=other)
    finally:
        for path, status in before.items():
            path.chmod(status.st_mode)
    os.chown(kept, 0, 0)

    def all_rights() -> None:
        place.before = place_before
        for path in [place.path, *place.path.rglob("*")]:
            os.chown(path, 0, 0)
        subprocess.run(["chmod", "-R", "u+rwX", place.path], check=True)
        closed.chmod((place.root / "kept" / closed.relative_to(place.path)).stat().st_mode)

    judged.check("no rights", str(closed.relative_to(place.path)), ended, ANY, all_rights)


def _above(path: Path) -> Iterator[Path]:
    yield path
    if path.parent != path and path.parent != Path("/tmp") and path.parent != Path("/"):
        yield from _above(path.parent)


# --- inputs that change --------------------------------------------------------------------------


def inputs(judged: Judged, until: float) -> None:
    """A file of the input is cut, deleted, replaced or written while it is read."""
    place, chance = judged.runs.place, judged.runs.chance
    place.fill()
    usual = forked(place, judged.door, SEED).seconds
    ways = (_cut, _deleted, _replaced, _overwritten)
    turn = 0
    while time.monotonic() < until:
        place.fill()
        sources = sorted((place.path / "source").iterdir())
        if not sources:
            return
        source, way = chance.choice(sources), ways[turn % len(ways)]
        turn += 1
        moment = usual * chance.uniform(0.0, 1.0)

        def change(_: int, way: Callable[[Path], None] = way, moment: float = moment,
                   source: Path = source) -> None:
            time.sleep(moment)
            way(source)

        kept = place.root / "kept" / source.relative_to(place.path)
        ended = forked(place, judged.door, SEED, meanwhile=change)
        # what a run reads of a file that changes is not for it to say
        source.unlink(missing_ok=True)
        subprocess.run(["cp", "-p", kept, source], check=True)
        whole = judged.whole
        if ended.status == 0:
            # it may have read what stood there first, or what stood there last
            judged.whole = judged.door.state(place.path)
        judged.check("input that changes", f"{way.__name__} at {moment:.3f} s", ended, ANY)
        judged.whole = whole


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _deleted(path: Path) -> None:
    path.unlink()


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    other.rename(path)


def _overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\x5a" * (path.stat().st_size // 2))


__all__ = ["FAULT", "inputs", "limits"]
