"""``kanon compare patients.parquet -k 5,10 -m mdav_star,mondrian --plot compared.svg``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from kanon_sql.api.comparison import FIRST, METRICS, Compared
from kanon_sql.api.comparison import compare as compared
from kanon_sql.call.options import OPTIONS
from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import OwnOption, checked, options, scalar
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import note
from kanon_sql.cli.show import table as as_table
from kanon_sql.cli.sources import opened
from kanon_sql.cli.typed import as_typed
from kanon_sql.errors import OptionError
from kanon_sql.methods import METHODS

SHOWN = ("information_loss", "total_il", "classes", "prosecutor_risk_max", "prosecutor_risk_mean",
         "rows_suppressed")
PLOTS = ("svg", "png", "pdf")


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@click.option("-k", "--k", "ks", cls=OwnOption, topic="models", metavar="NUMBERS", default="5",
              help="One k or several, with commas. Default: 5.")
@click.option("-m", "--methods", "--method", "methods", cls=OwnOption, topic="grouping",
              metavar="METHODS",
              default=",".join(FIRST),
              help=f"Methods with commas, or all. Default: {', '.join(FIRST)}.")
@inputs.place("--plot", metavar="FILE", type=click.Path(),
               help=f"Draws loss and risk by k, as {', '.join(PLOTS)}; needs the extra plots.")
@inputs.as_json
@options("anonymize_metrics", but=("k", "method", "max_risk", "detail"))
def compare(
    source: tuple[str, ...], table: str | None, database: str | None, ks: str, methods: str,
    plot: str | None, as_json: bool, **arguments: Any,
) -> int:
    """Compares methods by loss, risk and time, for one or several k.

    Nothing is released. A method that can't take the table, or an option, says why and is left out.
    The seconds are those of a first run, and of a process that compiles what it lacks; kanon
    compile does that before.
    """
    chosen = checked(arguments)
    each_k = [OPTIONS["k"].read(scalar(text.strip())) for text in ks.split(",")]
    named = list(METHODS) if methods == "all" else methods.split(",")
    chosen_methods = [OPTIONS["method"].read(name.strip()) for name in named]
    if plot is not None:
        _refuse_plot(plot)
    results = []
    with opened(source, database, table) as read:
        for one in compared(read.con, read.data, each_k, chosen_methods, chosen):
            results.append(one)
            said = f"{one.seconds:.1f} s" if one.refused is None else as_typed(one.refused)
            note(f"{one.method}, k = {one.k}: {said}")
    done = [one for one in results if one.refused is None]
    if as_json:
        print(json_text([
            {"method": one.method, "k_requested": one.k,
             **{name: one.metrics.get(name) for name in METRICS}, "seconds": one.seconds,
             "refused": one.refused} for one in results
        ]))
    elif done:
        print(as_table(
            ("method", "k_requested", *SHOWN, "seconds"),
            [(one.method, one.k, *(one.metrics.get(name) for name in SHOWN), one.seconds)
             for one in done],
        ))
    if not done:
        raise OptionError("No method takes this table with these options; see above.")
    if plot is not None:
        _draw(done, plot)
        note(f"the plot is in {plot}")
    return 0


def _refuse_plot(path: str) -> None:
    if Path(path).suffix[1:].lower() not in PLOTS:
        raise OptionError(f"A plot can't be written to {path!r}. End it in {', '.join(PLOTS)}.")
    if not Path(path).resolve().parent.is_dir():
        raise OptionError(f"There is no folder for {path!r}. Make it first.")
    if find_spec("matplotlib") is None:
        raise OptionError(
            "A plot needs matplotlib, which is not installed. Install it by "
            "pip install 'kanon-sql[plots]'."
        )


def _draw(done: list[Compared], path: str) -> None:
    """Loss, risk and seconds by k, a line for each method."""
    from matplotlib.figure import Figure

    from kanon_sql.output.whole import beside

    figure = Figure(figsize=(12, 4), layout="constrained")
    labels = {"information_loss": "information loss, %", "prosecutor_risk_mean": "risk on average"}
    for place, axes in enumerate(figure.subplots(1, 3)):
        name = (*labels, "seconds")[place]
        for method in dict.fromkeys(one.method for one in done):
            points = [
                (one.k, one.seconds if name == "seconds" else one.metrics.get(name))
                for one in done if one.method == method
            ]
            axes.plot(*zip(*points, strict=True), marker="o", label=method)
        axes.set_xlabel("k")
        axes.set_ylabel(labels.get(name, name))
        axes.set_ylim(bottom=0)
        axes.set_xticks(sorted({one.k for one in done}))
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside lower center",
        ncols=6, frameon=False,
    )
    with beside(Path(path).resolve()) as draft:
        figure.savefig(draft, format=Path(path).suffix[1:].lower(), metadata=_dateless(path))


def _dateless(path: str) -> dict[str, None]:
    """What leaves out the time of day, so that the same numbers give the same file."""
    return {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(
        Path(path).suffix[1:].lower(), {}
    )
