"""The options of the calls as those of a command line, made from the registry."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from kanon_sql.call.options import OPTIONS
from kanon_sql.errors import OptionError
from kanon_sql.option import Option
from kanon_sql.validators import words_of

SHORT = {
    "quasi_identifiers": "-q", "sensitive": "-s", "identifiers": "-i", "k": "-k", "method": "-m",
}

EMPTY = "{} is given and empty. Name what it is to be, or leave it out."
HOW = (
    "Lists are written a,b or by repeating the option; values per column are written age=2,zip=1 "
    "or 'age={\"kind\": \"bins\"}'; both may be JSON."
)

Command = Callable[..., Any]


class RegistryOption(click.Option):
    """An option of the registry."""

    def __init__(self, option: Option) -> None:
        """Its name, type and help."""
        self.registered = option
        dashed = option.name.replace("_", "-")
        flag, many = option.type == "BOOLEAN", _is_many(option)
        names = [f"--{dashed}/--no-{dashed}"] if flag else [f"--{dashed}"]
        if "_" in option.name and not flag:
            names.append(f"--{option.name}")
        if option.name in SHORT:
            names.insert(0, SHORT[option.name])
        super().__init__(
            [option.name, *names], default=None, multiple=many,
            metavar=None if flag else _metavar(option),
            help=f"{option.description} Default: {option.default_text}.",
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The words that it takes, or columns of the table that is named before it."""
        words = words_of(self.registered.check)
        if words:
            return [CompletionItem(word) for word in words if word.startswith(incomplete)]
        if self.registered.columns or "MAP" in self.registered.type:
            from kanon_sql.cli.columns import columns_like  # here: it opens the table

            sign = "" if self.registered.columns else "="
            return [CompletionItem(f"{name}{sign}") for name in columns_like(ctx, incomplete)]
        kind = "file" if self.registered.relation else "plain"
        return [CompletionItem(incomplete, type=kind)] if kind == "file" else []

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """How it is listed: the name with underscores is taken, and not told."""
        record = super().get_help_record(ctx)
        if record is None or "_" not in self.registered.name:
            return record
        return record[0].replace(f", --{self.registered.name}", ""), record[1]


def _is_many(option: Option) -> bool:
    return option.type == "VARCHAR[]" or "MAP" in option.type


def _metavar(option: Option) -> str:
    if option.columns:
        return "COLUMNS" if option.type == "VARCHAR[]" else "COLUMN"
    if option.relation:
        return "TABLE"
    value = "WORD" if words_of(option.check) else "VALUE"
    if option.type.startswith(("INTEGER", "BIGINT", "DOUBLE")):
        value = "NUMBER"
    if "MAP" in option.type:
        return f"COLUMN={value}" if option.type.startswith("STRUCT") else f"{value}|COLUMN={value}"
    return value


class OwnOption(click.Option):
    """An option of a command that the registry doesn't have."""

    def __init__(
        self, *args: Any, topic: str = "own", common: bool = True, **more: Any
    ) -> None:
        """As any option; topic and common as those of the registry."""
        self.topic, self.common = topic, common
        super().__init__(*args, **more)


def options(*calls: str, but: Iterable[str] = ()) -> Callable[[Command], Command]:
    """Adds all options of these calls to a command, which gets them as ``**given``."""
    left_out = set(but)

    def add(command: Command) -> Command:
        known = [
            option for option in OPTIONS.values()
            if option.name not in left_out and not set(calls).isdisjoint(option.calls)
        ]
        held: list[click.Parameter] = command.__dict__.setdefault("__click_params__", [])
        held[:0] = [RegistryOption(option) for option in reversed(known)]
        return command

    return add


def read(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the registry as they were typed, as values; those not given are not there.

    Raises:
        OptionError: a text that can't be read as a value.
    """
    return {
        name: value if isinstance(value, bool) else _read(OPTIONS[name], _texts(value))
        for name, value in arguments.items() if value is not None and value != ()
    }


def checked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same, each value checked alone."""
    values = read(arguments)
    for name, value in values.items():
        OPTIONS[name].read(value)
    return values


def _texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _read(option: Option, texts: Sequence[str]) -> Any:
    """An option as it is typed in a shell."""
    if option.type == "VARCHAR[]":
        if "" in texts:  # as an unset variable of a shell is
            raise OptionError(EMPTY.format(option.name))
        return [part for text in texts for part in _list(option.name, text)]
    if "MAP" in option.type:
        return _by_column(option.name, texts)
    (text,) = texts
    return text if option.type == "VARCHAR" else scalar(text)


def scalar(text: str) -> Any:
    """A number, true, false or JSON where it is one, else the text."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except OptionError:
        raise
    except (ValueError, RecursionError):
        return text


def _list(name: str, text: str) -> list[Any]:
    if not text.startswith("["):
        return _split(name, text)
    value = _json(name, text, 'a,b or ["a", "b"]')
    return value if isinstance(value, list) else [value]


def _split(name: str, text: str) -> list[str]:
    """A list with commas, of which a part with a comma in it stands in double quotes."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise OptionError(
            f"The value of {name} has a line break outside of quotes. Write it in one line, or "
            "put double quotes around the name that has the break."
        ) from None


def _json(name: str, text: str, like: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except OptionError:
        raise
    except (ValueError, RecursionError):
        raise OptionError(f"The value of {name} is not JSON. Write it as {like}.") from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises OptionError where a name stands in it twice, of which the last
    would win."""
    members: dict[str, Any] = {}
    for member, value in pairs:
        _add(members, "The value in JSON", member, value)
    return members


def _add(members: dict[str, Any], name: str, member: str, value: Any) -> None:
    """Puts in what isn't in yet. Names that differ in case are left to the check of the option:
    those of values are two."""
    if member in members:
        raise OptionError(f"{name} names {member!r} twice. Name it once.")
    members[member] = value


def _by_column(name: str, texts: Sequence[str]) -> Any:
    """One value for all columns, or pairs of a column and a value."""
    by_column: dict[str, Any] = {}
    alone: list[Any] = []
    like = "column=value, or as JSON in quotes of the shell"
    for text in texts:
        column, sign, rest = text.partition("=")
        if text.startswith("{"):
            for column, value in _json(name, text, like).items():
                _add(by_column, name, column, value)
        elif sign and rest.startswith(("{", "[")):
            _add(by_column, name, column.strip(), _json(name, rest, like))
        elif sign:
            for part in _split(name, text):
                column, sign, rest = part.partition("=")
                if not sign:
                    raise OptionError(f"{name} is given {part!r} without a value. Write {like}.")
                _add(by_column, name, column.strip(), scalar(rest.strip()))
        else:
            alone.append(scalar(text))
    if alone and (by_column or len(alone) > 1):
        raise OptionError(
            f"{name} is given for all columns and by column, or twice. Write it once, or by column."
        )
    return alone[0] if alone else by_column
