"""What reads a user's text: the options, kanon.toml, roles in comments, and manifests. Of any text
comes what it says, or one of our refusals.

    python -m tests.fuzz --parsers --minutes 5             random changes of good texts
    python -m tests.fuzz.parsers toml -max_total_time=60   guided by coverage (pip install atheris)
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.options import GARBAGE
from tests.fuzz.oracle import INTERNAL

MANY = re.compile(r"\[\]|STRUCT|MAP")
"""Types of options that may stand several times in the shell."""
CALLS = ("anonymize", "k_anonymity", "anonymize_risk", "anonymize_ledger", "ledger_check")


def refusal_or_none(work: Callable[[], Any]) -> str | None:
    """Does something; the sentence with which it is refused. Any other error goes on."""
    from kanon_sql.errors import KanonError

    try:
        work()
    except KanonError as refusal:
        said = str(refusal)
        assert "\n" not in said and said.rstrip().endswith((".", "?", ")")), said
        assert not INTERNAL.search(said.replace("__kanon_not_given", "")), said
        return said
    return None


def options(text: str) -> None:
    """The first word names an option, the rest is its value, as JSON or as it stands."""
    from kanon_sql.call.options import OPTIONS, read_options

    name, _, rest = text.partition(" ")
    known = sorted(OPTIONS)
    name = known[int(name) % len(known)] if name.isdecimal() and len(name) < 5 else name
    try:
        value = json.loads(rest)
    except (ValueError, RecursionError):
        value = rest
    for call in CALLS:
        refusal_or_none(lambda call=call: read_options(call, {"k": 3, name: value}))  # type: ignore


def hierarchy(text: str) -> None:
    """JSON of a kind and its options."""
    from kanon_sql.hierarchies.kinds import check_kind, hierarchies

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = {"kind": text}
    if isinstance(value, dict):
        refusal_or_none(lambda: check_kind("zip", value))
    refusal_or_none(lambda: hierarchies("hierarchies", {"zip": value}))


def shell(text: str) -> None:
    """The words of options in the shell: NAME=VALUE, lists, JSON."""
    from kanon_sql.call.options import OPTIONS
    from kanon_sql.cli.options import checked

    name, _, rest = text.partition(" ")
    known = sorted(OPTIONS)  # no other comes through click
    name = name if name in known else known[sum(map(ord, name)) % len(known)]
    refusal_or_none(lambda: checked({name: rest}))
    if MANY.search(OPTIONS[name].type):
        refusal_or_none(lambda: checked({name: tuple(rest.split(" "))}))


def toml(text: str) -> None:
    """A whole file kanon.toml."""
    from kanon_sql.cli.config import Config

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kanon.toml")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        refusal_or_none(lambda: Config(path))


def comment(text: str) -> None:
    """A column comment: what declares a role also may declare one."""
    from kanon_sql.call.declarations import ROLES, declared_role, may_declare

    said: list[str | None] = []
    refused = refusal_or_none(lambda: said.append(declared_role("age", text)))
    assert may_declare(text) or (refused is None and said == [None])
    assert refused or said[0] in (None, *ROLES)


def manifest(text: str) -> None:
    """A manifest in the footer of a file: any but the true one is told to be wrong."""
    import pyarrow.parquet as pq

    from kanon_sql import verify

    true, table = _release()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "release.parquet")
        key = next(key for key in table.schema.metadata if key.startswith(b"kanon"))
        own = {**table.schema.metadata, key: text.encode("utf-8", "replace")}
        pq.write_table(table.replace_schema_metadata(own), path)
        found = verify(path)
    try:
        same = json.loads(text) == json.loads(true)
    except (ValueError, RecursionError):
        same = False
    assert same or not found.ok, "a manifest that was changed is told to be right"


@cache
def _release() -> tuple[str, Any]:
    """A release with a manifest: its text, and the table of the file."""
    import duckdb
    import pyarrow.parquet as pq

    import kanon_sql

    folder = tempfile.mkdtemp(prefix="fuzz-")
    with duckdb.connect() as con:
        kanon_sql.register(con)
        con.execute("CREATE TABLE t AS SELECT i % 7 AS age, i % 3 AS ill FROM range(40) AS r(i)")
        path = f"{folder}/release.parquet"
        kanon_sql.release("t", con=con, to=path, k=4, sensitive=["ill"], l=2, progress=False)
    table = pq.read_table(path)
    text = next(v for key, v in table.schema.metadata.items() if key.startswith(b"kanon"))
    return text.decode(), table


TOML = """
database = "lake.duckdb"
[options]
k = 5
method = "mdav_star"
[tables.people]
input = "people.parquet"
output = "out/people.parquet"
roles = { age = "quasi_identifier", ill = "sensitive", name = "identifier" }
hierarchies = { age = { kind = "bins", width = 10 }, zip = "prefix" }
options = { l = { ill = 3 }, suppress = 0.05, within = ["site"] }
manifest = true
"""

TARGETS: dict[str, tuple[Callable[[str], None], tuple[str, ...]]] = {
    "options": (options, (
        "k 5", 'l {"ill": 3}', "method mdav", "suppress 0.1", 'column_weights {"age": 2}',
        'representation {"age": "median", "*": "interval"}', "12 0.5", 'hierarchies {"zip": {}}',
        'alpha {"ill": {"HIV": 0.1}}', "max_risk 0.09", 'extent {"lat": [0, 1], "lon": [0, 1]}',
    )),
    "hierarchy": (hierarchy, (
        '{"kind": "bins", "width": 10, "start": 0.5, "factor": 2}', '{"kind": "prefix"}',
        '{"kind": "ordered", "ranking": ["low", "high"]}', '{"kind": "rectangles", "extent": '
        '[[0, 1], [0, 1]]}', '{"kind": "cover", "packing": "fold", "levels": 3}', '"date"',
    )),
    "shell": (shell, (
        "k 5", "l ill=3", "quasi_identifiers age,zip", 'hierarchies zip={"kind": "bins"}',
        "column_weights age=2", "representation age=median *=interval", "suppress 1%",
    )),
    "toml": (toml, (TOML,)),
    "comment": (comment, (
        "What it is. kanon: sensitive", "kanon: quasi-identifier.", "kanon_sql: identifier",
        "role: identifier (kanon)", "The canton: other", "kan\u043en: entity", "kanon: within\n",
    )),
    "manifest": (manifest, ()),
}
"""What is fuzzed: the function, and good texts to begin with."""

SIGNS = ("", " ", "\u0000", "'", '"', "{", "}", "[", "]", "=", ",", ".", "\n", "\\", "\u202e",
         "\ufeff", "e\u0301", "\ud800", "1e999", "-0", "null", "NaN", "9" * 40, "true", "kanon:",
         "\U0001f600", "[" * 600, "{}", "*", "%s", "\u043a", "''' ", "inf")


def changed(random: Random, text: str) -> str:
    """A text with a few changes."""
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        start = random.randint(0, len(text))
        end = min(len(text), start + random.choice((0, 0, 1, 1, 3, 12)))
        sign = chr(random.randrange(512))
        middle = random.choice((random.choice(SIGNS), text[end: end + 9], sign))
        text = text[:start] + middle + text[end:]
    return text


def changed_json(random: Random, value: Any) -> Any:
    """JSON with one entry changed, taken away, doubled or moved."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(list(value))
        rest = {name: each for name, each in value.items() if name != key}
        roll = random.random()
        if roll < 0.1:
            return rest
        if roll < 0.15:
            return {**value, random.choice(("x", "", key + " ")): value[key]}
        return {**rest, key: changed_json(random, value[key])}
    if isinstance(value, list) and value and random.random() < 0.7:
        spot = random.randrange(len(value))
        return [changed_json(random, e) if i == spot else e for i, e in enumerate(value)]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and random.random() < 0.5:
        return value + random.choice((1, -1, 0.5, 1e-9))
    plain = [each for each in GARBAGE if each == each and each not in (float("inf"),)]
    return random.choice(plain)


def text_of(target: str, seed: int) -> str:
    """The text of a seed."""
    random = Random(f"{target} {seed}")
    if target == "manifest":
        true = _release()[0]
        if random.random() < 0.3:
            return changed(random, true)
        return json.dumps(changed_json(random, json.loads(true)))
    text = changed(random, random.choice(TARGETS[target][1]))
    if target in ("options", "hierarchy") and random.random() < 0.3:
        text = f"{text.partition(' ')[0]} {json.dumps(random.choice(GARBAGE))}"
    return text


def fault_of(target: str, seed: int) -> str | None:
    """What is wrong with how a target reads the text of a seed."""
    text = text_of(target, seed)
    try:
        TARGETS[target][0](text)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]} for {text[:300]!r}"
    return None


def campaign(seed: int, runs: Mapping[str, int], report: Callable[[str], None]) -> int:
    """Reads texts; how many of them failed."""
    failed = 0
    for target, count in runs.items():
        for each in range(seed, seed + count):
            fault = fault_of(target, each)
            if fault:
                failed += 1
                report(f"{target}, seed {each}: {fault}")
        report(f"{target}: {count} texts, from seed {seed}")
    return failed


def _guided(target: str) -> None:
    """Runs a target under atheris, until it fails or is stopped."""
    import atheris

    with atheris.instrument_imports(include=["kanon_sql"]):
        import kanon_sql.call.declarations
        import kanon_sql.call.options
        import kanon_sql.cli.config
        import kanon_sql.hierarchies.kinds  # noqa: F401

    corpus = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for number, text in enumerate(TARGETS[target][1]):
        (corpus / str(number)).write_text(text, encoding="utf-8")
    read = TARGETS[target][0]
    atheris.Setup([sys.argv[0], *sys.argv[2:], str(corpus)],
                  lambda data: read(data.decode("utf-8", "replace")))
    atheris.Fuzz()


if __name__ == "__main__":
    _guided(sys.argv[1])
