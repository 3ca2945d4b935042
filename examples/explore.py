"""Risk against loss, live: sliders for k and the method, a menu of roles.

    marimo run examples/explore.py

Needs ``pip install marimo matplotlib``. To look at a table of your own, put its path in place of
``adult()``.
"""

import marimo

app = marimo.App(width="medium")

with app.setup:
    from functools import cache

    import marimo as mo
    import polars as pl
    from matplotlib.figure import Figure

    import kanon_sql
    from kanon_sql.data import adult

    PEOPLE = pl.read_parquet(adult()).head(3000)
    KS = (2, 3, 5, 10, 20, 50)
    METHODS = ("mdav_star", "mdav", "k_member", "mondrian", "auto")


@app.function
@cache
def released(k: int, method: str, sensitive: tuple[str, ...]) -> kanon_sql.Release:
    """A release of the table, made once for each choice."""
    return kanon_sql.release(
        PEOPLE, k=k, method=method, sensitive=list(sensitive), progress=False
    )


@app.cell
def _():
    mo.md("# Risk against loss\n\nHow many persons hide each other, and what that costs.")


@app.cell
def _():
    k = mo.ui.slider(steps=KS, value=5, label="k", show_value=True)
    method = mo.ui.slider(
        steps=list(range(len(METHODS))), value=0, label="method (see below)",
    )
    sensitive = mo.ui.multiselect(
        PEOPLE.columns, value=["salary-class"], label="pass unchanged (sensitive)"
    )
    mo.hstack([k, method, sensitive], justify="start", gap=2)
    return k, method, sensitive


@app.cell
def _(k, method, sensitive):
    name = METHODS[method.value]
    release = released(k.value, name, tuple(sensitive.value))
    mo.vstack([mo.md(f"Method: `{name}`"), release])
    return name, release


@app.cell
def _(k, name, sensitive):
    curve = [released(each, name, tuple(sensitive.value)).metrics for each in KS]
    risks = [100 * told["prosecutor_risk_max"] for told in curve]
    losses = [100 * told["ncp_grouping"] for told in curve]
    drawn = Figure(figsize=(7, 4), layout="constrained")
    axes = drawn.subplots()
    axes.plot(losses, risks, marker="o")
    for each, loss, risk in zip(KS, losses, risks, strict=True):
        axes.annotate(f"k = {each}", (loss, risk), (6, 4), textcoords="offset points")
    here = KS.index(k.value)
    axes.plot(losses[here], risks[here], marker="o", markersize=12, color="tab:red")
    axes.set(xlabel="loss per cell, %", ylabel="largest risk, %", ylim=(0, 55))
    mo.as_html(drawn)
    return losses, risks


@app.cell
def _(release):
    release.plot()


if __name__ == "__main__":
    app.run()
