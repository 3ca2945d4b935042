"""What DuckDB refuses, in our words: of a refusal in our SQL its class and sentence, of all else
only that it is refused, since the text may hold a value."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import duckdb

from kanon_sql.call.referenced_relations import ReferencedRelation
from kanon_sql.errors import NEAR, DataError, KanonError, OptionError, ReleaseError, lacks_memory
from kanon_sql.jobs.job import STOPPED, raised
from kanon_sql.output.faults import read_fault
from kanon_sql.plan.macro_shadowing import COLLATED, FUNCTIONS, SHADOWED

TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\w+|.", re.DOTALL)

UNREAD = "A file that the call names can't be read. Check its path and its rights."

INSIDE = re.compile(r"Python exception occurred while executing the UDF: (\w+)")
FAILED = "The call failed with {}. Nothing was returned; please report this as a bug."

KINDS = {kind.__name__: kind for kind in (KanonError, OptionError, DataError, ReleaseError)}

HARMLESS = (duckdb.BinderException, duckdb.CatalogException)
"""What DuckDB refuses while it reads a query: the text names columns and relations, no values."""

ABOUT_DATA = (
    duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException,
    duckdb.InvalidTypeException, duckdb.TypeMismatchException,
)
"""What it refuses while it runs one: our refusals are among them, and values may be in the text."""


def telling(text: str) -> str:
    """The query with refusals that bring their class out of it (see sql/macros/refuse.sql)."""
    tokens = TOKEN.findall(text)
    return "".join("__kanon_tell" if token == "__kanon_refuse" else token for token in tokens)


def refused(error: duckdb.Error) -> BaseException:
    """The refusal inside a DuckDB error, of the class as which it was raised; of what DuckDB itself
    refuses only that it does, since its text may hold a value."""
    text = str(error).partition("\n\nLINE ")[0].partition(": ")[2]
    kind, _, sentence = text.partition(": ")
    if sentence == STOPPED and threading.current_thread() is threading.main_thread():
        raised()
        return KeyboardInterrupt()
    if kind in KINDS:
        return KINDS[kind](sentence)
    if text == COLLATED or text in (SHADOWED.format(name) for name in FUNCTIONS):
        return OptionError(text)
    if was_pressed(error):
        return KeyboardInterrupt()
    failed = INSIDE.search(text)
    if failed and not lacks_memory(error):
        return KanonError(FAILED.format(failed[1]))
    return read_fault(error) or DataError(
        f"DuckDB can't read the data ({type(error).__name__}). Check that each column holds values "
        "of one type."
    )


def near_name(error: duckdb.Error, name: str) -> str:
    """The hint that follows the name of a relation that there isn't, where DuckDB names one like
    it; without the database or schema that the name had, that one gets it, too."""
    found = re.search(r'^Did you mean "(.+)"\?$', str(error), re.MULTILINE)
    if found is None:
        return ""
    place, dot, own = name.rpartition(".")
    other = found[1].rpartition(".")[2]
    if not get_close_matches(own.lower(), [other.lower()], cutoff=NEAR):
        return ""
    return f" Did you mean {found[1] if '.' in found[1] else place + dot + other!r}?"


def is_read_only(error: duckdb.Error) -> bool:
    """Whether an error says that a database is open for reading only."""
    return "attached in read-only mode" in str(error)


def was_pressed(error: BaseException) -> bool:
    """Whether an error of DuckDB's is a Ctrl-C that was raised below it, in a function of ours."""
    failed = INSIDE.search(str(error))
    return failed is not None and failed[1] == "KeyboardInterrupt"


@contextmanager
def refusals(missing: Callable[[], ReferencedRelation | None]) -> Iterator[None]:
    """Raises what DuckDB refuses meanwhile as what it is; ``missing`` finds a relation that there
    isn't."""
    try:
        yield
    except ABOUT_DATA as error:
        raise refused(error) from None
    except (*HARMLESS, duckdb.IOException) as error:
        fault = read_fault(error) if isinstance(error, duckdb.IOException) else None
        if fault is not None:
            raise fault from None
        sought = missing()
        said = str(error).partition("\n")[0].partition(": ")[2]
        if sought is not None:
            hint = near_name(error, sought.place + sought.name) if sought.may_be_misspelt else ""
            raise OptionError(f"{sought.sentence}{hint}") from None
        if isinstance(error, duckdb.IOException) and not said.startswith("No files found"):
            raise DataError(UNREAD) from None  # a path may hold a value
        raise OptionError(said) from None
    except duckdb.Error as error:
        fault = read_fault(error)
        if fault is None:
            raise
        raise fault from None
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # as DuckDB's client says it where it hears Ctrl-C
            raise KeyboardInterrupt from None
        raise
