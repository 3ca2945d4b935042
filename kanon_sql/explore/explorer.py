"""What all pages of one server share: the table, its answers, and the folder that is written to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kanon_sql.errors import OptionError
from kanon_sql.explore.answers import ColumnsFound
from kanon_sql.explore.choices import Choices, first_choices
from kanon_sql.explore.lane import Lane
from kanon_sql.explore.source import ExploredTable
from kanon_sql.explore.work import Workbench, suggestions
from kanon_sql.explore.written import toml_of
from kanon_sql.output.whole import beside

NO_NAME = (
    "The file can't be named {!r}. Give a name that ends in .toml, without a folder, such as "
    "kanon.toml."
)
NO_OUTPUT = "The output of the release has no name. Give one, such as released.parquet."


@dataclass
class Explorer:
    """What is explored.

    Attributes:
        bench: the table, and the answers about it.
        first: the choices to begin with.
        found: the columns, before anything was chosen.
        folder: where files are written.
        lanes: the work of all pages.
    """

    bench: Workbench
    first: Choices
    found: ColumnsFound
    folder: Path
    lanes: list[Lane] = field(default_factory=list)

    @classmethod
    def of(cls, table: ExploredTable, folder: Path) -> Explorer:
        """Looks at the columns of a table. Raises OptionError, DataError."""
        bench, rows = Workbench(table), suggestions(table.con)
        return cls(bench, first_choices(rows), bench.columns(table.con, None), folder)

    def lane(self) -> Lane:
        """A new lane for a page."""
        lane = Lane(self.bench.table.con)
        self.lanes.append(lane)
        return lane

    def forget(self, *lanes: Lane) -> None:
        """Ends the work of a page that is gone."""
        for lane in lanes:
            lane.leave()
            if lane in self.lanes:
                self.lanes.remove(lane)

    def stop(self, longest: float) -> None:
        """Ends all work; ``longest``: the most seconds that each page is waited for."""
        for lane in list(self.lanes):
            lane.leave()
        for lane in list(self.lanes):
            lane.stop(longest)

    def is_there(self, name: str) -> bool:
        """Whether a file would be overwritten. Raises OptionError for what is no name of one."""
        return self._place(name).exists()

    def write(self, choices: Choices, name: str, output: str) -> Path:
        """Writes kanon.toml, whole or not at all; whoever asks has agreed to overwrite.

        Args:
            choices: what was chosen.
            name: of the file, in the folder.
            output: what kanon run writes.

        Raises:
            OptionError: a name is none, or no release can be made with the choices.
            DataError: the disk refuses.
        """
        place = self._place(name)
        if not output.strip():
            raise OptionError(NO_OUTPUT)
        text = toml_of(self.bench.table.named, choices, output.strip())
        with beside(place) as draft:
            Path(draft).write_text(text, encoding="utf-8")
        return place

    def _place(self, name: str) -> Path:
        word = name.strip()
        if word != Path(word).name or not word.lower().endswith(".toml") or "\\" in word:
            raise OptionError(NO_NAME.format(word))
        place = self.folder / word
        if place.is_symlink() or (place.exists() and not place.is_file()):
            raise OptionError(f"{word!r} is a link or a folder. Give another name.")
        return place
