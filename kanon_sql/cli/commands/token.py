"""``kanon token``: who may ask a server of ``kanon serve``."""

from __future__ import annotations

from pathlib import Path

import click
import duckdb

from kanon_sql.cli.help import Grouped
from kanon_sql.cli.sources import is_database
from kanon_sql.errors import DataError, OptionError
from kanon_sql.serve.tokens import RIGHTS, add_token, holders, revoke_token

UNSEEN = (
    "The token of {0!r} can't be written to the output, and is in the file of tokens. Revoke it: "
    "kanon token DATABASE {0} --revoke."
)


@click.command(cls=Grouped)
@click.argument("database", metavar="DATABASE", type=click.Path())
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--right", metavar="RIGHT", type=click.Choice(list(RIGHTS)),
              help="; ".join(f"{right}: {text}" for right, text in RIGHTS.items()) + ".")
@click.option("--revoke", is_flag=True, help="Takes the token of NAME away.")
@click.option("--tokens", metavar="FILE", type=click.Path(),
              help="The file of tokens. Default: DATABASE with the ending .tokens.")
def token(
    database: str, name: str | None, right: str | None, revoke: bool, tokens: str | None
) -> None:
    """Makes a token for NAME and prints it once, or lists the holders.

    The file keeps only a salted hash of the token.
    """
    if tokens is None and not is_database(database):
        raise OptionError(f"{database!r} is not a DuckDB file. Check the path.")
    path = Path(tokens) if tokens is not None else Path(database).with_suffix(".tokens")
    if name is None:
        if right is not None or revoke:
            raise OptionError("There is no NAME. Give one after DATABASE.")
        for held in holders(path):
            print("\t".join(held))
    elif revoke:
        if right is not None:
            raise OptionError("--right and --revoke exclude each other. Leave one out.")
        revoke_token(path, name)
    elif right is None:
        raise OptionError(f"There is no right for {name!r}. Add --right reader or --right analyst.")
    else:
        _show(add_token(path, name, right), path, name)


def _show(made: str, path: Path, name: str) -> None:
    """Prints a token; one that nobody could see is taken away again."""
    try:
        print(made, flush=True)
    except OSError:
        try:
            revoke_token(path, name)
        except (duckdb.Error, OptionError):
            raise DataError(UNSEEN.format(name)) from None
        raise
