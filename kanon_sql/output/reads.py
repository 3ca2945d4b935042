"""What a call reads, so that nothing is written over it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.call.relation import is_url
from kanon_sql.errors import OptionError
from kanon_sql.names import literal
from kanon_sql.output.literal_reads import tells_all

TOKEN = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"|(\w+)")
WILD = re.compile(r"[*?\[]")

MEANINGS = """
    SELECT system.main.lower(view_name), sql, sql[system.main.strpos(sql, ' AS ') + 4:]
    FROM system.main.duckdb_views() WHERE NOT internal
    UNION ALL
    SELECT system.main.lower(function_name), macro_definition,
        CASE WHEN system.main.contains(macro_definition, '__kanon_') THEN NULL
             WHEN function_type = 'macro' THEN 'SELECT ' || macro_definition
             ELSE macro_definition END
    FROM system.main.duckdb_functions()
    WHERE NOT internal AND macro_definition IS NOT NULL
        AND NOT system.main.starts_with(function_name, '__kanon_')
    UNION ALL
    SELECT 'getvariable', '''' || replace(value, '''', '''''') || '''', NULL
    FROM system.main.duckdb_variables() WHERE value IS NOT NULL
"""
"""What a word in a query may stand for: a view, a macro, a variable; and the query that it runs,
unless that is ours, which names in its arguments what it reads."""
QUERY = re.compile(r"\s*\(*\s*(SELECT|FROM|WITH)\b", re.IGNORECASE)
QUOTING = re.compile(r"['\"\s]")

DATABASES = "SELECT path FROM system.main.duckdb_databases() WHERE path IS NOT NULL"

ITSELF = "{} names the relation itself. Write {} to another file."
AMONG = "{} names {!r}, which is among the files that are read. Write {} to another file."
UNTOLD = (
    "{} names {!r}, which exists, and the relation may read it: the names of its files are "
    "computed, not written out. {}."
)
OPEN = "{} names {!r}, a DuckDB file that is open. Write {} to another file."
MATCHED = (
    "{} names {!r}, which the pattern {!r} reads, too. Write {} to a file outside of it."
)
INSIDE = (
    "{!r} is among the files that are read, and lies where {!r} will be written. Name a folder of "
    "its own."
)
WITHIN = "The pattern {!r} would read what is written to {!r}. Name a folder outside of it."


class Reads:
    """All that a call may read: the words of its relations, and of the views and macros that they
    name, as far as these go.

    It is read off the texts, so that it holds for whatever function reads a file; a word too many
    costs nothing unless it is the name of what is written.

    Attributes:
        own: the texts and quoted names of the relation alone.
        names: the same of all of them.
        words: all words, in small letters.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, source: str, arguments: Any = None) -> None:
        """
        Args:
            con: which reads.
            source: the relation as it stands in FROM, or a query.
            arguments: the options of the call, of which some name relations.
        """
        self._con = con
        self.own = tuple(_names_in(source))
        self.names: list[str] = []
        self.words: set[str] = set()
        meanings: dict[str, list[tuple[str, str | None]]] = {}
        for word, text, query in con.execute(MEANINGS).fetchall():
            meanings.setdefault(word, []).append((text, query))
        options = list(_texts_of(arguments))
        self._asked = [text for text in options if QUERY.match(text)]
        self._meant = [f"FROM {source}"]
        waiting = [source, *(f"{literal(text)} {text}" for text in options)]
        while waiting:
            for token in TOKEN.finditer(waiting.pop()):
                name = _name(token)
                if token[3] is None and name not in self.names:
                    self.names.append(name)
                    if QUOTING.search(name):
                        waiting.append(name)  # it may be a query, as of FROM query('...')
                if name.lower() not in self.words:
                    self.words.add(name.lower())
                    for text, query in meanings.get(name.lower(), ()):
                        waiting.append(text)
                        self._meant += [] if query is None else [query]

    @cached_property
    def untold(self) -> bool:
        """Whether the relation may read what is named nowhere."""
        return not all(tells_all(self._con, query) for query in self._meant) or any(
            tells_all(self._con, query) is False for query in self._asked
        )

    def refuse_untold(self, said: str, target: Path, instead: str) -> None:
        """Raises OptionError where what would be written over may be read."""
        if target.exists() and self.untold:
            raise OptionError(UNTOLD.format(said, str(target), instead))

    def files(self, name: str) -> list[str]:
        """The files of this machine that a name or pattern leads to; none of a name of no file."""
        if is_url(name) and not name.lower().startswith("file:"):
            return []
        with suppress(duckdb.Error):
            rows = self._con.execute("SELECT file FROM system.main.glob(?)", [name]).fetchall()
            return [re.sub(r"^file:(//)?", "", file) for (file,) in rows]
        return []

    def _itself(self) -> list[str]:
        """The files that the relation names itself."""
        return [file for name in self.own for file in self.files(name)]

    def has(self, target: Path) -> bool:
        """Whether a file is one of those that are read."""
        return any(_same(file, target) for name in self.names for file in self.files(name))

    def refuse_file(self, said: str, target: Path, what: str = "the release") -> None:
        """Raises OptionError where a file that is to be written is one that is read, or a pattern
        of those would read it.

        Args:
            said: what names it, such as 'to'.
            target: the file.
            what: is written.
        """
        for (database,) in self._con.execute(DATABASES).fetchall():
            if _same(database, target) or _same(f"{database}.wal", target):
                raise OptionError(OPEN.format(said, str(target), what))
        for name in self.names:
            files = self.files(name)
            if any(_same(file, target) for file in files) or (not files and _ends(target, name)):
                if len(files) == 1 and self._itself() == files:
                    raise OptionError(ITSELF.format(said, what))
                raise OptionError(AMONG.format(said, str(target), what))
            if WILD.search(name) and matches(name, target):
                raise OptionError(MATCHED.format(said, str(target), name, what))
        self.refuse_untold(said, target, f"Write {what} to a new file")

    def refuse_folder(self, target: Path, written: Sequence[Path]) -> None:
        """Raises OptionError where a folder that is to be written has a file that is read, or would
        be read by the next run as if it were input.

        Args:
            target: the folder.
            written: what is written there, a file of each kind.
        """
        places = {target, *(path.parent for path in written)}
        for name in self.names:
            for file in self.files(name):
                if places & set(Path(file).resolve().parents):
                    raise OptionError(INSIDE.format(file, str(target)))
            if WILD.search(name) and any(matches(name, path) for path in written):
                raise OptionError(WITHIN.format(name, str(target)))


def _name(token: re.Match[str]) -> str:
    if token[1] is not None:
        return token[1].replace("''", "'")
    return token[3] if token[2] is None else token[2].replace('""', '"')


def _names_in(text: str) -> Iterator[str]:
    """The texts and quoted names of a query."""
    return (_name(token) for token in TOKEN.finditer(text) if token[3] is None)


def _texts_of(option: Any) -> Iterator[str]:
    """All texts in an option, however deep."""
    if isinstance(option, str):
        yield option
    elif isinstance(option, Mapping):
        for value in option.values():
            yield from _texts_of(value)
    elif isinstance(option, Iterable):
        for value in option:
            yield from _texts_of(value)


def _same(file: str, target: Path) -> bool:
    """Whether two paths lead to one file, by what other name ever."""
    with suppress(OSError, ValueError):
        return Path(file).samefile(target)
    return False


def _ends(target: Path, name: str) -> bool:
    """Whether a path may be put together from a text that is its end, such as 'lake/' || 'a.csv'.
    """
    parts = Path(name.lstrip("/")).parts
    return bool(parts) and "." in name and target.exists() and target.parts[-len(parts):] == parts


def matches(pattern: str, path: Path) -> bool:
    """Whether a pattern, as DuckDB reads it, finds a path that need not be there."""
    parts = Path(re.sub(r"^file:(//)?", "", pattern)).expanduser().parts
    first = next((i for i, part in enumerate(parts) if WILD.search(part)), len(parts))
    return _fits((*Path(*parts[:first]).resolve().parts, *parts[first:]), path.parts)


def _fits(pattern: Sequence[str], path: Sequence[str]) -> bool:
    if not pattern or not path:
        return not path and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return _fits(pattern[1:], path) or _fits(pattern, path[1:])
    return fnmatchcase(path[0], pattern[0]) and _fits(pattern[1:], path[1:])
