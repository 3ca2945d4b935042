"""Grammar and spelling, by LingoTweaker, which runs offline: pip install '.[english]'.

Inline code stands for any word, so nothing is reported of the word before it (a or an) or of
itself. Only words in lower case are checked for their spelling: others are names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.project.english.check import Finding, Source
from tests.project.english.prose import CODE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

INSTALLED = find_spec("lt_py") is not None and find_spec("lingotweaker_data_en") is not None
INSTALL = "pip install -e '.[english]'"
SPELLING = "MORFOLOGIK_RULE_EN_US"
STAND_IN = "X"
"""What the checker reads in place of CODE: as long, and a name."""

CONFIG: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "grammar.toml").read_text(encoding="utf-8")
)
KNOWN = frozenset(CONFIG["spelling"]["words"])


@cache
def _engine() -> Any:
    import lt_py

    return lt_py.Engine("en-US")


def _applies(rule: str, text: str, begin: int, end: int) -> bool:
    found = text[begin:end]
    if rule == SPELLING:
        token = text[:end].split(" ")[-1] + text[end:].split(" ")[0]
        alone = token.strip(".,;:!?()\"") == found
        return alone and found.isalpha() and found.islower() and found not in KNOWN
    if rule in CONFIG["off"] or CODE in found:
        return False
    if rule == "EN_A_VS_AN" and text[end:].lstrip(" '\"(").startswith(CODE):
        return False
    return not any(
        text.find(phrase, max(end - len(phrase), 0), begin + len(phrase)) >= 0
        for phrase in CONFIG["accepted"]["phrases"]
    )


def grammar(source: Source) -> Iterator[Finding]:
    """What the checker finds, less what grammar.toml turns off."""
    for passage in source.passages:
        for match in _engine().check(passage.text.replace(CODE, STAND_IN)):
            begin = match["offset"]
            end = begin + match["length"]
            if _applies(match["rule_id"], passage.text, begin, end):
                instead = " / ".join(match["suggestions"][:3])
                yield Finding(
                    source.place, passage.line(begin), passage.text[max(begin - 15, 0):end + 15],
                    f"{match['rule_id']}: {instead or match['message']}",
                )
