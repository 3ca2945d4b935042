"""What is given twice in a shell is refused: the last would win without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import Shell

CALL = ("anonymize", "patients.parquet", "-q", "age,zip,job", "-s", "disease", "-i", "name")


@pytest.mark.parametrize(("arguments", "said"), [
    (["--alpha", "disease=0.4,disease=0.9"], "alpha names 'disease' twice. Name it once."),
    (["--alpha", '{"disease": 0.4, "disease": 0.9}'],
     "The value in JSON names 'disease' twice. Name it once."),
    (["--alpha", "disease=0.4", "--alpha", '{"disease": 0.9}'],
     "alpha names 'disease' twice. Name it once."),
    (["--alpha", "disease=0.4,Disease=0.9"], "alpha names a column twice. Name it once."),
    (["--l", "disease=3,disease=2"], "l names 'disease' twice. Name it once."),
    (["--l", "disease=3", "--l", "disease=2"], "l names 'disease' twice. Name it once."),
    (["--l", "disease=3", "--l", "Disease=2"], "l names the column 'disease' twice. Name it once."),
    (["--column-weights", "age=1,AGE=2"],
     "column_weights names the column 'age' twice. Name it once."),
    (["--hierarchies", 'age={"kind": "bins", "width": 5, "width": 9}'],
     "The value in JSON names 'width' twice. Name it once."),
    (["--hierarchies", "age=bins", "--hierarchies", 'age={"kind": "bins"}'],
     "hierarchies names 'age' twice. Name it once."),
    (["-k", "2"], "--k is given twice. Write it once."),
    (["--k=5"], "--k is given twice. Write it once."),
    (["-m", "mdav", "--method", "mondrian"], "--method is given twice. Write it once."),
    (["--others", "drop", "--others", "release"], "--others is given twice. Write it once."),
    (["--class-id", "--no-class-id"], "--class-id is given twice. Write it once."),
    (["-o", "y.csv"], "--output is given twice. Write it once."),
    (["--table", "a", "--table", "b"], "--table is given twice. Write it once."),
])
def test_two_values_where_one_counts_are_refused(
    arguments: list[str], said: str, patients: Path, shell: Shell
) -> None:
    before = sorted(Path.cwd().iterdir())
    assert shell(*CALL, "-k", "5", "-o", "x.csv", *arguments) == 2
    assert (shell.out, shell.err) == ("", f"kanon: {said}\n")
    assert sorted(Path.cwd().iterdir()) == before


def test_lists_and_flags_may_be_repeated(patients: Path, shell: Shell) -> None:
    call = ("anonymize", "patients.parquet", "-q", "age", "-q", "zip,job", "-s", "disease")
    more = ("-i", "name", "-k", "5", "-o", "x.csv", "--json", "--json", "--quiet", "--quiet")
    assert shell(*call, *more, "--column-weights", "age=2", "--column-weights", "zip=3") == 0
