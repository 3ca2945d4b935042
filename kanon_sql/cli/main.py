"""``kanon``: which commands there are, and what a shell gets back: a status, and one sentence on
stderr where something was refused."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import shell_complete

from kanon_sql import renamed
from kanon_sql.call.option_aliases import option_meant
from kanon_sql.cli.stopping import stop_at_sigterm, was_terminated, watching
from kanon_sql.cli.typed import as_typed, notices_typed
from kanon_sql.errors import (
    LITTLE,
    DataError,
    KanonError,
    OptionError,
    did_you_mean,
    lacks_memory,
    printable,
)
from kanon_sql.jobs.interrupts import heard
from kanon_sql.version import __version__

COMMANDS = {
    "anonymize": "Anonymize a table, a file or many into a file, a table or a folder.",
    "audit": "Measure k, classes and risk of a table, or compare a release with its source.",
    "risk": "Measure the re-identification risk of a table, released by kanon_sql or not.",
    "roles": "Inspect each column and suggest a role for it.",
    "compare": "Compare methods by loss, risk and time, for one or several k.",
    "hierarchy": "The levels to which a column may be generalized, as a table to edit.",
    "explore": "Choose roles, hierarchies and k on a page of this machine.",
    "report": "One HTML file about a release, for the person who signs it off.",
    "release": "Anonymize into a Parquet file with a manifest, and add it to a ledger.",
    "verify": "Verify a released file against its manifest.",
    "run": "Make the releases that a file kanon.toml describes.",
    "serve": "Serve releases to any client of DuckDB, by token.",
    "token": "Make a token for a reader or an analyst of kanon serve.",
    "sql": "Print the query of a call, run SQL from a file, or type it at a prompt.",
    "compile": "Compile methods before their first use, for images and CI.",
    "demo": "Anonymize UCI Adult and show what happened.",
    "completion": "Print what makes bash, zsh or fish complete commands and options.",
}
"""In the order of the help. The module and the function of each have its name."""

DONE, FOUND_WRONG, USAGE, REFUSED, DATA = range(5)
INTERRUPTED, CLOSED, TERMINATED = 130, 141, 143

STATUSES = {
    DONE: "done",
    FOUND_WRONG: "audit or verify looked, and found something wrong",
    USAGE: "what was typed can't be used: a command, an option, a column, a file that isn't there, "
           "an extra that isn't installed",
    REFUSED: "refused: a release failed its verification, or this can't be done here",
    DATA: "the data can't be anonymized as requested, or a file can't be read or written",
    INTERRUPTED: "stopped by Ctrl-C; each output is complete, or as it was before",
    CLOSED: "the reader of the output closed it",
    TERMINATED: "stopped by SIGTERM; each output is complete, or as it was before",
}
"""What the shell ends with, and why."""

COMPLETING = "_KANON_COMPLETE"
"""The variable by which a shell asks for completions."""

NO_SPACE = (
    "A file can't be read or written ({}). Nothing was written; check the path, its rights and the "
    "room on the disk."
)
TOO_SMALL = (
    "The memory is too small for this table. Nothing was written; give more memory, or anonymize "
    "files into a folder, -o out/, which takes blocks."
)
BUG = "{} was raised, which should not be. Nothing was written; please report this as a bug."


class Commands(click.Group):
    """The commands; only the one that is asked for is loaded."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(
            import_module(f"kanon_sql.cli.commands.{cmd_name}"), cmd_name
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise OptionError(
                f"kanon has no command {args[0]!r}. {did_you_mean(args[0], COMMANDS)}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Their list, none of them loaded."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("Exit status"):
            formatter.write_dl([(str(number), said) for number, said in STATUSES.items()])


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, message=f"kanon_sql {__version__}")
def kanon() -> None:
    """k-anonymity for DuckDB, from the shell.

    `kanon COMMAND --help` shows the common options of a command, `--help-all` all of them. A file
    is Parquet, CSV or JSON, a pattern ('lake/**/*.parquet'), a folder, a table of a DuckDB file
    (db.duckdb::schema.table), or - for standard input and output.
    """


def _near(error: click.NoSuchOption, typed: Sequence[str]) -> str | None:
    """What was meant by an option that there isn't, as it is typed; None where nobody can tell."""
    wrong = error.option_name
    params = [] if error.ctx is None else error.ctx.command.params
    flags = {name: one for one in params for name in (*one.opts, *one.secondary_opts)}
    if f"-{wrong}" in flags:  # -l 3, of an option that has no short name
        after = typed[typed.index(wrong) + 1:][:1] if wrong in typed else []
        value = "".join(f" {word}" for word in after if not word.startswith("-"))
        return printable(f"-{wrong}{value}")
    meant = option_meant(wrong.lstrip("-"), {one.name for one in params if one.name})
    if meant is not None:
        return next(max(one.opts, key=len) for one in params if one.name == meant)
    near = get_close_matches(wrong, error.possibilities or (), 1, 0.0)
    return near[0] if near else None


def _sentence(error: click.ClickException, typed: Sequence[str]) -> str:
    """What is said of a command line that can't be read."""
    command = f"kanon {typed[0]}" if typed and typed[0] in COMMANDS else "kanon"
    said = printable(error.format_message().rstrip(".").replace("\n", " "))
    if isinstance(error, click.NoSuchOption):
        said = printable(f"There is no option {error.option_name}")
        gone = renamed.GONE.get(error.option_name.lstrip("-"))
        if gone is not None:
            return f"{said}. {gone}"
        near = _near(error, typed)
        if near is not None:
            return f"{said}. Did you mean {near}?"
    return f"{said}. See {command} --help."


def _told(error: BaseException, typed: Sequence[str], stopped: bool) -> tuple[int, str]:
    """The status and the sentence for what went wrong; ``stopped``: whether Ctrl-C was heard."""
    if stopped or isinstance(error, (KeyboardInterrupt, click.Abort)):
        return TERMINATED if was_terminated() else INTERRUPTED, "stopped."
    if isinstance(error, click.ClickException):
        return USAGE, _sentence(error, typed)
    if isinstance(error, KanonError):
        said = str(error).replace(LITTLE, TOO_SMALL)
        if not error.in_sql:
            said = as_typed(said, in_file=typed[:1] == ["run"])
        return {OptionError: USAGE, DataError: DATA}.get(type(error), REFUSED), said
    if lacks_memory(error):
        return DATA, TOO_SMALL
    if isinstance(error, OSError):
        return DATA, NO_SPACE.format(error.strerror or type(error).__name__)
    if type(error).__module__.startswith(("duckdb", "_duckdb")):
        return DATA, _of_duckdb(error)
    return REFUSED, BUG.format(type(error).__name__)


def _of_duckdb(error: BaseException) -> str:
    """What DuckDB itself refuses. Its text may hold a value, so only its kind is told."""
    return (
        f"DuckDB can't read the data or write the output ({type(error).__name__}). Nothing was "
        "written; check the files, and the room on the disk."
    )


def _say(status: int, sentence: str, error: BaseException, as_json: bool) -> None:
    if as_json:
        sentence = json.dumps({
            "status": status, "error": type(error).__name__, "message": sentence
        })
        print(sentence, file=sys.stderr)
    else:
        print(f"kanon: {sentence}", file=sys.stderr)


def _invoked(typed: list[str]) -> Any:
    """Runs what was typed; click's own way to do so would print an empty line on Ctrl-C."""
    if COMPLETING in os.environ:
        return shell_complete(kanon, {}, "kanon", COMPLETING, os.environ[COMPLETING])
    try:
        with kanon.make_context("kanon", typed) as context:
            return kanon.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: what was typed after ``kanon``; those of the process unless given.

    Returns:
        The exit status, one of STATUSES.
    """
    typed = list(sys.argv[1:] if arguments is None else arguments)
    before = heard()
    try:
        with watching(), notices_typed(in_file=typed[:1] == ["run"]):
            result = _invoked(typed)
        sys.stdout.flush()
        return result if isinstance(result, int) else DONE
    except BrokenPipeError:
        # what is left in the buffer must not be written when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except (Exception, KeyboardInterrupt) as error:
        status, sentence = _told(error, typed, heard() > before)
        with suppress(OSError):  # where nothing can be said, the status still tells it
            _say(status, sentence, error, "--json" in typed)
        return status


def start() -> NoReturn:
    """What the installed command runs."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed (>&-)
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    stop_at_sigterm()
    status = main()
    # a Ctrl-C that was swallowed below a query comes again a moment later
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            # who can't be told anything finds the status; Python would end with another one
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    if status in (INTERRUPTED, TERMINATED):
        # Python itself would end as if nobody had heard it, if it came while an import ran
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
