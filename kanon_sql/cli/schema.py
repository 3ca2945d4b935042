"""The JSON schema of kanon.toml, made from the registry; editors complete and check by it.

kanon.schema.json is what ``GOLDEN=write pytest tests/api/test_cli_run.py`` writes.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from kanon_sql.call.declarations import ROLES
from kanon_sql.call.options import OPTIONS
from kanon_sql.cli.config import OF_FILE, OF_RELEASE, OF_TABLE
from kanon_sql.cli.targets import FORMATS
from kanon_sql.hierarchies.kinds import KINDS, SUGGESTED
from kanon_sql.option import Option
from kanon_sql.validators import words_of

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
TEXTS: dict[str, Any] = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}

FORMS: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "float": NUMBER,
    "bool": {"type": "boolean"},
    "int | str": {"type": ["integer", "string"]},
    "float | str": {"type": ["number", "string"]},
    "tuple[str, ...]": TEXTS,
    "dict[str, float]": {"type": "object", "additionalProperties": NUMBER},
    "float | dict[str, float]": {
        "anyOf": [NUMBER, {"type": "object", "additionalProperties": NUMBER}]
    },
    "float | dict[str, Any]": {"type": ["number", "object"]},
    "dict[str, tuple[float, float]]": {
        "type": "object",
        "additionalProperties": {
            "type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2
        },
    },
}
"""What TOML may have for what a check makes of it."""


def _word(words: tuple[str, ...]) -> dict[str, Any]:
    """One of some words; any text where the check takes other spellings, too."""
    return {"anyOf": [{"enum": list(words)}, TEXT]} if words else TEXT


def _hierarchies() -> dict[str, Any]:
    kinds = {"anyOf": [{"enum": list(KINDS)}, TEXT]}
    names = dict.fromkeys(
        (name for kind in KINDS.values() for name in kind.options), True
    )
    one = {"type": "object", "required": ["kind"], "properties": {"kind": kinds, **names},
           "additionalProperties": False}
    by_column = {"type": "object", "additionalProperties": {"anyOf": [*kinds["anyOf"], one]}}
    return {"anyOf": [{"enum": [SUGGESTED]}, by_column]}


def _option(option: Option) -> dict[str, Any]:
    form = option.check.__annotations__["return"]
    words = words_of(option.check)
    if option.name == "hierarchies":
        definition = _hierarchies()
    elif option.name == "sensitive_values":
        definition = {"type": ["string", "number", "boolean", "array"]}
    elif form == "str":
        definition = _word(words)
    elif form == "str | dict[str, str]":
        by_column = {"type": "object", "additionalProperties": _word(words)}
        definition = {"anyOf": [*_word(words)["anyOf"], by_column]}
    else:
        definition = FORMS[form]
    return {"description": f"{option.description} Default: {option.default_text}.", **definition}


def schema() -> dict[str, Any]:
    """The schema, as JSON has it."""
    options = {
        "type": "object", "additionalProperties": False,
        "properties": {name: _option(OPTIONS[name]) for name in OF_RELEASE},
    }
    roles = {"type": "object", "additionalProperties": _word(ROLES)}
    forms: dict[str, dict[str, Any]] = {
        "input": TEXTS, "partition_by": TEXTS, "manifest": {"type": "boolean"},
        "format": {"enum": list(FORMATS)}, "roles": {"anyOf": [TEXT, roles]},
        "hierarchies": _hierarchies(), "options": {"$ref": "#/$defs/options"},
    }
    table = {
        "type": "object", "additionalProperties": False, "required": ["input", "output"],
        "properties": {
            name: {"description": text, **forms.get(name, TEXT)} for name, text in OF_TABLE.items()
        },
    }
    parts: dict[str, dict[str, Any]] = {
        "options": {"$ref": "#/$defs/options"},
        "tables": {"type": "object", "minProperties": 1, "additionalProperties": table},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kanon.toml",
        "type": "object", "additionalProperties": False, "required": ["tables"],
        "properties": {
            name: {"description": text, **parts.get(name, TEXT)} for name, text in OF_FILE.items()
        },
        "$defs": {"options": options},
    }


def text() -> str:
    """The schema as it is shipped."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def shipped() -> str:
    """The file that is shipped."""
    return files(__package__).joinpath("kanon.schema.json").read_text(encoding="utf-8")
