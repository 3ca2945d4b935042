"""Power that is lost: what lies on the disk if all that was not synchronized is lost.

A record of all calls of a run tells what each file and folder had when. A disk may keep a name, or
a new place of it, from the moment that it is given, and must keep it once its folder is
synchronized; it must keep the bytes of a file once that is synchronized, and till then may keep
none. So the worst of all disks keeps each name at once and bytes never, or, of two things that are
to be there together, the first name never and the second at once. A release holds on all of them
if
  1. each output, and each file of it, has all its bytes synchronized before it gets its name;
  2. all its names are kept when the run has ended, since it then says that they are there;
  3. what a later release continues from is kept before the output is named;
  4. what a run that goes on would take for done is synchronized before it is noted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.doors import SEED, Door
from tests.faults.process import forked
from tests.faults.table import Judged
from tests.faults.traced import CALL, Trace

CALLS = (
    "openat,write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,ftruncate,unlink,"
    "unlinkat,mkdir,rmdir,sync_file_range,copy_file_range,sendfile,mmap"
)
PATH_OF_FD = re.compile(r"^\w+<([^>]*)>")
STEP = re.compile(r'\\"(spool|block|file|parts|ledger|models)(?: ([\w-]+))?\\": ')
"""A step that a note says is done, as the record has the text of the note."""
MADE = {
    "spool": "spool/{}", "block": "pieces/{}.parquet", "file": "out/part-{:0>5}.parquet",
    "parts": "parts", "ledger": "ledger", "models": "kept",
}
"""What is there when a step is done."""
QUOTED = re.compile(r'"([^"]*)"')


@dataclass
class Disk:
    """What of a disk is sure.

    Attributes:
        place: where the run works; all else is left out.
        unsynced: files with bytes that may be lost.
        unkept: folders with names that may be lost, and these names.
        named: the moments at which an output, or a note of what is done, got its name, and what
            was not sure then.
        note: the text of the next note.
        noted: how many steps all notes together say are done.
    """

    place: Path
    unsynced: set[str] = field(default_factory=set)
    unkept: dict[str, set[str]] = field(default_factory=dict)
    named: list[tuple[str, list[str]]] = field(default_factory=list)
    note: str = ""
    noted: int = 0

    def takes(self, line: str, outputs: tuple[str, ...]) -> None:
        """One call of the record."""
        match = CALL.match(line)
        if match is None or " = -1 " in line or " = " not in line:
            return
        call, rest = match[2], match[3]
        if call in ("fsync", "fdatasync"):
            self._sync(self._path(_of_fd(rest)))
        elif call in ("write", "pwrite64", "writev", "ftruncate", "copy_file_range", "sendfile"):
            path = self._path(_of_fd(rest))
            self._write(path)
            if path.endswith("/.state.json.tmp"):
                self.note = rest
        elif call == "openat":
            path = self._path((QUOTED.search(rest) or [""])[1] if QUOTED.search(rest) else "")
            if "O_CREAT" in rest:
                self._name(path)
            if "O_TRUNC" in rest:
                self._write(path)
        elif call.startswith("rename"):
            old, new = (self._path(each) for each in QUOTED.findall(rest)[:2])
            self._rename(old, new, outputs)
        elif call == "mkdir":
            self._name(self._path(QUOTED.findall(rest)[0]))
        elif call in ("unlink", "unlinkat", "rmdir"):
            self._remove(call, rest)

    def _remove(self, call: str, rest: str) -> None:
        folder = _of_fd(rest) if call == "unlinkat" and not rest.startswith("AT_FDCWD") else ""
        path = self._path(str(Path(folder, QUOTED.findall(rest)[0])))
        gone = [each for each in self.unsynced if each == path or each.startswith(f"{path}/")]
        self.unsynced.difference_update(gone)
        for held in [each for each in self.unkept if each == path or each.startswith(f"{path}/")]:
            del self.unkept[held]
        self.unkept.get(str(Path(path).parent), set()).discard(Path(path).name)

    def _path(self, text: str) -> str:
        path = Path(self.place, text)
        return str(path) if text and self.place in (path, *path.parents) else ""

    def _write(self, path: str) -> None:
        if path and not Path(path).is_relative_to(self.place / "cache"):
            self.unsynced.add(path)

    def _sync(self, path: str) -> None:
        self.unsynced.discard(path)
        self.unkept.pop(path, None)

    def _name(self, path: str) -> None:
        if path:
            self.unkept.setdefault(str(Path(path).parent), set()).add(Path(path).name)

    def _rename(self, old: str, new: str, outputs: tuple[str, ...]) -> None:
        if any(new == str(self.place / one) for one in outputs):
            self.named.append((str(Path(new).relative_to(self.place)), self.unsure(old)))
        if new.endswith("/state.json"):
            work = Path(new).parent
            made = [work / MADE[step].format(name) for step, name in STEP.findall(self.note)]
            # files that were taken away again when what they were for was done are sure to be gone
            unsure = [each for path in made for each in self.unsure(str(path))]
            self.named.append((str(Path(new).relative_to(self.place)), unsure))
            self.noted += len(made)
        self.unsynced = {_moved(each, old, new) for each in self.unsynced}
        self.unkept = {_moved(each, old, new): names for each, names in self.unkept.items()}
        self.unkept.get(str(Path(old).parent), set()).discard(Path(old).name)
        self._name(new)

    def unsure(self, path: str) -> list[str]:
        """What of a file, or of a folder with all in it, may be lost."""
        inside = [each for each in self.unsynced if each == path or each.startswith(f"{path}/")]
        names = [
            f"{folder}/{name}" for folder, held in self.unkept.items() for name in held
            if folder == path or folder.startswith(f"{path}/")
        ]
        return [f"bytes of {each}" for each in inside] + [f"the name {each}" for each in names]

    def kept(self, path: str) -> bool:
        """Whether the name of an output is sure."""
        place = self.place / path
        return place.name not in self.unkept.get(str(place.parent), ())


def _of_fd(rest: str) -> str:
    match = PATH_OF_FD.match(rest)
    return match[1] if match else ""


def _moved(path: str, old: str, new: str) -> str:
    if path == old or path.startswith(f"{old}/"):
        return new + path[len(old):]
    return path


def power(judged: Judged, until: float) -> None:
    """A record of a run, read from its beginning to each of its calls."""
    place = judged.runs.place
    place.fill()
    trace = Trace(place.root / "record", CALLS, "-s", "100000")
    ended = forked(place, judged.door, SEED, trace.attach)
    lines = trace.lines()
    assert ended.status == 0, ended.said
    found = held(judged.door, place.path, lines)
    judged.runs.note(f"power {judged.door.name}", f"{len(lines):,} calls", found)


def held(door: Door, place: Path, lines: list[str]) -> list[str]:
    """What may be lost of a release, by the record of its calls."""
    disk, found = Disk(place), []
    files = tuple(each for each in door.outputs if not each.endswith("base.duckdb"))
    for line in lines:
        named = len(disk.named)
        disk.takes(line, files)
        for name, unsure in disk.named[named:]:
            found += [f"{name} is named, and {each} may be lost" for each in unsure]
            entries = [each for each in files if each.startswith("ledger/")]
            found += [
                f"{name} is named, and the name of {each} may be lost" for each in entries
                if name != each and not disk.kept(each)
            ]
    found += [f"the run has ended, and the name of {each} may be lost" for each in files
              if not disk.kept(each)]
    found += [f"the run has ended, and bytes of {each} may be lost" for each in disk.unsynced
              if any(str(place / one) in (each, *map(str, Path(each).parents)) for one in files)]
    if door.goes_on and not disk.noted:
        found.append("no step was noted in this record")
    if door.named and not disk.named:
        found.append("no output got its name in this record")
    return [each.replace(f"{place}/", "") for each in found]
