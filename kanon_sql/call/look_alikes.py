"""A text in the letters that its signs look like: what people take for a word is that word here.

Letters of other scripts count as those that they look like, those that are typed wide or in a style
as plain ones, and signs that nobody sees as none. DuckDB says the same by translate().
"""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase

_OTHERS = {
    "a": "\u0430\u0251\u03b1\u1d00", "c": "\u0441\u03f2\u1d04", "d": "\u0501",
    "e": "\u0435\u03b5\u1d07", "h": "\u04bb", "i": "\u0456\u0131\u03b9\u026a",
    "k": "\u043a\u03ba\u1d0b", "n": "\u03bd\u03b7\u0578\u0274", "o": "\u043e\u03bf\u0585\u1d0f",
    "p": "\u0440\u03c1", "q": "\u051b", "r": "\u0433", "s": "\u0455\ua731\u017f",
    "t": "\u0442\u03c4\u1d1b", "u": "\u03c5\u057d", "v": "\u0475", "w": "\u051d",
    "y": "\u0443\u03b3", "A": "\u0410\u0391", "C": "\u0421\u03f9", "E": "\u0415\u0395",
    "I": "\u0406\u0399", "K": "\u041a\u039a\u212a", "N": "\u039d", "O": "\u041e\u039f",
    "Q": "\u051a", "R": "\u01a6", "S": "\u0405", "T": "\u0422\u03a4", "W": "\u051c",
    "Y": "\u04ae\u03a5",
}
"""Letters of other scripts, Cyrillic and Greek above all, by those that they look like."""
_WIDE = range(0xFF01, 0xFF5F)
"""The signs of ASCII from ! to ~ as they are typed in East Asia."""
_STYLES = range(0x1D400, 0x1D6A4)
"""The letters A to Z and a to z, in thirteen styles one after the other."""
_INVISIBLE = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F),
    *range(0x2060, 0x2070), *range(0xFE00, 0xFE10),
)
LETTERS = "".join((
    *(letter * len(others) for letter, others in _OTHERS.items()),
    *(chr(code - 0xFEE0) for code in _WIDE),
    (ascii_uppercase + ascii_lowercase) * 13,
))
"""What stands for each of the first signs of ALIKE; the others are left out."""
ALIKE = "".join((*_OTHERS.values(), *map(chr, _WIDE), *map(chr, _STYLES), *map(chr, _INVISIBLE)))
_PLAIN = {**dict.fromkeys(map(ord, ALIKE)), **dict(zip(map(ord, ALIKE), LETTERS, strict=False))}


def plain(text: str) -> str:
    """A text in the letters that its signs look like."""
    return text.translate(_PLAIN)
