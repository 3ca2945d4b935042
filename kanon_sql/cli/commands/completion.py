"""``kanon completion bash``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kanon_sql.cli.help import Grouped

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Grouped)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Prints what makes a shell complete commands, options and their words.

    For bash: kanon completion bash > ~/.local/share/bash-completion/completions/kanon
    """
    from kanon_sql.cli.main import COMPLETING, kanon

    completer = get_completion_class(shell)
    assert completer is not None
    print(completer(kanon, {}, "kanon", COMPLETING).source())
