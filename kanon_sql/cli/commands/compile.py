"""``kanon compile mdav_star``."""

from __future__ import annotations

from time import perf_counter

import click
from click.shell_completion import CompletionItem

from kanon_sql.call.options import OPTIONS
from kanon_sql.cli.help import Grouped
from kanon_sql.methods import METHODS


class _Method(click.ParamType):  # type: ignore[type-arg]
    name = "method"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The methods."""
        return [CompletionItem(name) for name in METHODS if name.startswith(incomplete)]


@click.command(cls=Grouped)
@click.argument("methods", metavar="[METHOD]...", nargs=-1, type=_Method())
def compile(methods: tuple[str, ...]) -> None:
    """Compiles all that calls of some methods, or of all, and their metrics can need."""
    known = OPTIONS["method"]
    names = [known.read(name) for name in methods] or list(METHODS)

    # here, since they load the compiler
    from kanon_sql.group.all_kernels import compile_method
    from kanon_sql.measure.diameter import load_kernels

    started = perf_counter()
    functions = len(load_kernels())
    for name in dict.fromkeys(names):
        for done in compile_method(name):
            functions += done.functions
            if done.functions > 0:
                print(f"{done.what}: {_count(done.functions)} in {done.seconds:.1f} s", flush=True)
    seconds = perf_counter() - started
    if functions > 0:
        print(f"Compiled {_count(functions)} in {seconds:.1f} s.")
    else:
        print(f"Nothing to compile: all was in the cache, and loaded in {seconds:.1f} s.")


def _count(functions: int) -> str:
    return "1 function" if functions == 1 else f"{functions} functions"
