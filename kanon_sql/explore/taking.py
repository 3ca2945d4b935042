"""The end of the way: kanon.toml, and the line of SQL."""

from __future__ import annotations

from typing import Protocol

from kanon_sql.errors import KanonError, OptionError
from kanon_sql.explore.choices import Choices
from kanon_sql.explore.controls import alert, button, field, said, tag
from kanon_sql.explore.explorer import Explorer
from kanon_sql.explore.written import sql_of

NOT_YET = "The release is still computed. Wait until its numbers are shown."
REFUSED = "These choices are refused. {}"
THERE = "{} exists already."
WRITTEN = "{} is written. kanon run {} releases the whole table."

COPY = (
    "(e) => navigator.clipboard.writeText("
    "e.target.parentElement.querySelector('code').textContent)"
)


class Visit(Protocol):
    """What is asked of a page.

    Attributes:
        explorer: what is explored.
        choices: what was chosen.
        ready: whether there is a release of the choices.
        refused: why there is none, or nothing.
    """

    explorer: Explorer
    choices: Choices
    ready: bool
    refused: str


class Taking:
    """The section that writes the file."""

    def __init__(self, page: Visit) -> None:
        """``page``: the visit."""
        self._page = page
        name = page.explorer.bench.table.named.name
        self._file, self._output = "kanon.toml", f"{name}_released.parquet"
        with tag("section", classes="taking", aria_labelledby="take"):
            tag("h2", "Take this", id="take")
            tag("p", f"Writes the choices into a file in {page.explorer.folder}.", "small")
            with tag("div", classes="controls"):
                field("File", self._file, self._name_file)
                field("Output of the release", self._output, self._name_output)
            with tag("div", classes="buttons"):
                button("Take this", self._take, "main")
            with tag("div", classes="ask", role="group", aria_label="Overwrite") as self._asking:
                self._there = tag("p", "")
                button("Replace it", self._write, "main")
                button("Keep it", lambda: self._asking.set_visibility(False), "quiet")
            self._alert = alert()
            self._done = tag("p", "", "done", role="status")
            with tag("div", classes="line") as self._line:
                tag("h3", "The same release in SQL")
                with tag("pre", tabindex="0"):
                    self._sql = tag("code", "")
                copy = tag("button", "Copy", "quiet", type="button", aria_label="Copy the SQL")
                copy.on("click", js_handler=COPY)
        self.close()

    def close(self) -> None:
        """Takes away what was said of other choices."""
        said(self._alert, "")
        said(self._done, "")
        self._asking.set_visibility(False)
        self._line.set_visibility(False)

    def _name_file(self, text: str) -> None:
        self._file = text
        self.close()

    def _name_output(self, text: str) -> None:
        self._output = text
        self.close()

    def _take(self) -> None:
        self.close()
        page = self._page
        try:
            if page.refused:
                raise OptionError(REFUSED.format(page.refused))
            if not page.ready:
                raise OptionError(NOT_YET)
            if page.explorer.is_there(self._file):
                said(self._there, THERE.format(self._file.strip()))
                self._asking.set_visibility(True)
                return
        except KanonError as refusal:
            said(self._alert, str(refusal))
            return
        self._write()

    def _write(self) -> None:
        self.close()
        page = self._page
        try:
            place = page.explorer.write(page.choices, self._file, self._output)
            sql = sql_of(page.explorer.bench.table.named, page.choices)
        except KanonError as refusal:
            said(self._alert, str(refusal))
            return
        said(self._done, WRITTEN.format(place.name, place.name))
        self._sql.set_text(sql)
        self._line.set_visibility(True)
