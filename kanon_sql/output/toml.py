"""Names and values as they stand in a TOML file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def toml_key(text: str) -> str:
    """A key, in quotes where it needs them."""
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else toml_value(text)


def toml_value(value: Any) -> str:
    """A string, a number, a boolean, a list or an inline table. The escapes of strings are those of
    JSON."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
