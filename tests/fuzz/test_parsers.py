"""Some hundred changed texts of each kind, and those that once failed."""

from __future__ import annotations

import json

import pytest

from tests.fuzz.parsers import TARGETS, TOML, _release, fault_of

RUNS = {"options": 150, "hierarchy": 100, "shell": 150, "toml": 15, "comment": 150, "manifest": 4}

DEEP = "[" * 3000

ONCE = {
    "toml": (TOML.replace('"lake.duckdb"', DEEP), TOML.replace("5", f"[{{a = {DEEP}}}]")),
    "shell": ("column_weights age\n=2", "quasi_identifiers a\rb", f"hierarchies zip={DEEP}",
              f"quasi_identifiers {DEEP}", f"k {DEEP}", "l " + '{"a":' * 3000),
    "manifest": (DEEP, '{"made": ' * 3000),
}
"""Texts that once were answered by an error of Python."""


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "manifest"])
def test_of_any_text_comes_what_it_says_or_a_refusal(target: str) -> None:
    faults = [fault_of(target, seed) for seed in range(RUNS[target])]
    assert not [fault for fault in faults if fault]


@pytest.mark.slow
def test_no_changed_manifest_is_right() -> None:
    assert not [fault for seed in range(40) if (fault := fault_of("manifest", seed))]


@pytest.mark.parametrize(("target", "text"), [
    (target, text) for target, texts in ONCE.items() for text in texts if target != "manifest"
])
def test_a_text_that_once_failed_is_read_or_refused(target: str, text: str) -> None:
    TARGETS[target][0](text)


@pytest.mark.slow
@pytest.mark.parametrize("value", [
    *(f"[{'[' * depth}{']' * depth}]" for depth in (100, 400, 900, 5000)), "1e999", "9" * 5000
])
def test_a_manifest_with_an_entry_that_no_manifest_has_is_told_to_be_wrong(value: str) -> None:
    true = json.loads(_release()[0])
    for section in ("made", "options", "roles", "columns", "metrics", "release"):
        for entry in list(true[section])[:3]:
            text = json.dumps({**true, section: {**true[section], entry: "@"}})
            TARGETS["manifest"][0](text.replace('"@"', value, 1))
