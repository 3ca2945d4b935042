"""kanon demo: what a newcomer sees first."""

from __future__ import annotations

import pytest

from kanon_sql.interfaces.cli import main


def test_the_demo_shows_call_rows_metrics_and_audit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--method", "mdav_plus", "--k", "10"]) == 0
    shown = capsys.readouterr().out
    assert "FROM anonymize('adult', k=10, method='mdav_plus', sensitive=['salary-class'])" in shown
    source, released = shown.split("  released\n")[0], shown.split("  released\n")[1]
    assert source.split("  adult\n")[1].count("\n") >= 12
    assert released.split("\n\n")[0].count("\n") == 11
    for metric in ("rows_in", "information_loss", "seconds_total", "method: mdav_plus"):
        assert metric in shown
    audit = {line.split()[0]: line.split()[1] for line in shown.splitlines()[-2:]}
    assert audit == {"adult": "1", "released": "10"}


def test_two_tables_stand_beside_each_other_where_there_is_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "260")
    assert main(["demo", "--method", "mdav_plus", "--k", "10"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert any(line.startswith("  adult") and "|  released" in line for line in shown)


def test_a_refusal_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--method", "mdva"]) == 2
    assert capsys.readouterr().err == (
        "kanon: The method 'mdva' is not known. Did you mean 'mdav'?\n"
    )
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("kanon_sql ")
