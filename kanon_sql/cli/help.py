"""The help of a command: its options in the order in which a user asks, the common ones first."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from kanon_sql.call.options import GROUPS, SPECIAL
from kanon_sql.cli.options import OwnOption, RegistryOption
from kanon_sql.cli.typed import as_typed
from kanon_sql.errors import OptionError
from kanon_sql.option import Option, options_of
from kanon_sql.validators import words_of

OWN, PLACES, SINGLE = "own", "places", "single"
"""Topics beside the groups of the registry: what a command has of its own, what it reads and
writes, and what single methods take."""

HEADINGS = {
    "roles": "Which columns",
    "models": "How safe",
    "release": "How it looks",
    PLACES: "Where from and where to",
    "grouping": "How rows are grouped",
    "measuring": "What is measured",
    "risk": "How risk is measured",
    "parts": "Parts of a release",
    "releases": "Repeated releases",
    "running": "While it runs",
    SINGLE: "What single methods take",
    OWN: "Other options",
}
"""How the help calls what options are about, in its order."""

TOPIC_OF = {
    name: option.topic or group
    for group, holder in GROUPS.items() for name, option in options_of(holder).items()
} | dict.fromkeys(SPECIAL, SINGLE)

FEW = 10
"""So many options need no headings."""

UNSORTED = "Options"
"""The heading of options that need no others."""

MOST_WORDS = 12
"""So many words of an option are named where it is told briefly."""

SENTENCE_ENDS = re.compile(r"(?<=[\w)])[:;] |\. ")
TWICE = "{} is given twice. Write it once."
ALL = "--help-all"
INDENT = 6


def about(option: Option, brief: bool) -> str:
    """What an option means, and its default, as a shell has it.

    Args:
        option: of the registry.
        brief: whether in one sentence, with the words that it takes.
    """
    said = option.description
    words = words_of(option.check)
    if brief:
        said = SENTENCE_ENDS.split(said)[0].rstrip(".")
        if 1 < len(words) <= MOST_WORDS:
            said += f": {', '.join(words[:-1])} or {words[-1]}"
        said += "."
    default = SENTENCE_ENDS.split(option.default_text)[0] if brief else option.default_text
    if default != "none":
        said += f" Default: {default}."
    return as_typed(said)


def _topic(param: click.Option) -> str:
    if isinstance(param, RegistryOption):
        return TOPIC_OF[param.registered.name]
    return param.topic if isinstance(param, OwnOption) else OWN


def _is_common(param: click.Option) -> bool:
    if isinstance(param, RegistryOption):
        return param.registered.common
    return not isinstance(param, OwnOption) or param.common


def _has_registered(params: list[click.Option]) -> bool:
    return any(isinstance(param, RegistryOption) for param in params)


def _record(ctx: click.Context, param: click.Option, brief: bool) -> tuple[str, str] | None:
    record = param.get_help_record(ctx)
    if record is not None and isinstance(param, RegistryOption):
        return record[0], about(param.registered, brief)
    return record


def _takes_one(param: click.Parameter) -> bool:
    """Whether it is an option that means one thing only, and not a flag that has no no-."""
    return isinstance(param, click.Option) and not param.multiple and (
        not param.is_flag or bool(param.secondary_opts)
    )


class Grouped(click.Command):
    """A command whose help lists options by what they are about: the common ones, or all."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own, and --help-all where that lists more than --help."""
        params = super().get_params(ctx)
        listed = [param for param in params if isinstance(param, click.Option)]
        if all(map(_is_common, listed)) or not _has_registered(listed):
            return params
        return [*params, click.Option(
            [ALL], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
            help="Show every option, with all that it means, and exit.",
        )]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads what was typed. Raises OptionError where an option that takes one value has two,
        of which click would take the last."""
        if not ctx.resilient_parsing:
            *_, given = self.make_parser(ctx).parse_args(args=list(args))
            for param in given:
                if given.count(param) > 1 and _takes_one(param):
                    raise OptionError(TWICE.format(max(param.opts, key=len)))
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by topic, in the order of the topics."""
        listed = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        if len(listed) <= FEW or not _has_registered(listed):
            with formatter.section(UNSORTED):
                formatter.write_dl([*_records(ctx, listed, brief=True)])
            return
        everything = bool(ctx.meta.get(ALL))
        shown = [param for param in listed if everything or _is_common(param)]
        for topic, heading in HEADINGS.items():
            records = [*_records(
                ctx, [param for param in shown if _topic(param) == topic], not everything
            )]
            if records:
                with formatter.section(heading):
                    _write(formatter, records)
        if len(shown) < len(listed):
            formatter.write_paragraph()
            more = len(listed) - len(shown)
            formatter.write_text(f"There are {more} more options: kanon {self.name} {ALL}.")


def _records(
    ctx: click.Context, params: list[click.Option], brief: bool
) -> Iterator[tuple[str, str]]:
    for param in params:
        record = _record(ctx, param, brief)
        if record is not None:
            yield record


def _write(formatter: click.HelpFormatter, records: list[tuple[str, str]]) -> None:
    """Each option in a line of its own, and below it what it means."""
    for names, said in records:
        formatter.write(f"{'':>{formatter.current_indent}}{names}\n")
        formatter.current_indent += INDENT
        formatter.write_text(said)
        formatter.current_indent -= INDENT


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Shows the help with every option, and ends."""
    if value and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
