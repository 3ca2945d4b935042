"""Texts that join words with a separator which the words may hold themselves, taken apart again.

Both halves look at a text once for each number of parts that a known word has, which is once or
twice in a usual column, and never more often than the square root of all their parts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Chain = tuple[int, int]
"""The words of a chain, and the parts of its last one."""

BASE = 0x9E3779B97F4A7C15
"""Of the rolling hash; odd, so that it has an inverse modulo 2 ** 64."""
INVERSE = pow(BASE, -1, 2**64)
WHOLE = 2**64 - 1


class JoinedWords:
    """The known words that a text joins.

    Of several readings one in ascending order is taken, which is how sets are published, and of
    those one with the most words.
    """

    def __init__(
        self, separator: str, words: Iterable[str], knows: Callable[[str], bool],
        check: Callable[[], None],
    ) -> None:
        """
        Args:
            separator: what is between the words of a text.
            words: every known word that may hold the separator.
            knows: whether a word is one; also asked of words without the separator.
            check: called now and then; may raise, to stop.
        """
        self._separator, self._knows, self._check = separator, knows, check
        by_size: dict[int, set[int]] = {}
        for word in words:
            if separator in word:
                check()
                parts = word.split(separator)
                by_size.setdefault(len(parts), set()).add(_word_hash(parts))
        self._hashes = {
            size: np.array(sorted(hashes), np.uint64) for size, hashes in sorted(by_size.items())
        }

    def split(self, text: str) -> list[str] | None:
        """The words that a text joins; None: there is no such reading."""
        return self.read(text)[0]

    def read(self, text: str) -> tuple[list[str] | None, bool]:
        """The words, and whether there are others that would be joined so, ascending as they."""
        parts = text.split(self._separator)
        if not self._hashes or len(parts) == 1:
            return (parts if all(map(self._knows, parts)) else None), False
        words: dict[str, int] = {}
        ends = self._ends(text, parts, words)
        if not ends[-1]:
            return None, False
        spelled = list(words)
        rank = np.empty(len(words), np.int64)
        rank[sorted(range(len(words)), key=spelled.__getitem__)] = np.arange(len(words))
        ranks = rank.tolist()
        chain, ways = self._most_words(ends, ranks, True)
        if chain is None:
            chain, ways = self._most_words(ends, ranks, False)
        return None if chain is None else [spelled[number] for number in chain], ways > 1

    def _ends(self, text: str, parts: list[str], words: dict[str, int]) -> list[dict[int, int]]:
        """For each number of parts the words that end there, numbered, by the parts that they
        take, fewest first; ``words`` gets their numbers."""
        stops = np.cumsum([len(part) + len(self._separator) for part in parts])
        starts = np.append(0, stops).tolist()
        stops = (stops - len(self._separator)).tolist()
        ends: list[dict[int, int]] = [{} for _ in range(len(parts) + 1)]
        for end, part in enumerate(parts, start=1):
            if end % 1024 == 0:
                self._check()
            if self._knows(part):
                ends[end][1] = words.setdefault(part, len(words))
        windows = _Windows(parts)
        for size, hashes in self._hashes.items():
            if size > len(parts):
                break
            self._check()
            for start in windows.among(size, hashes).tolist():
                # equal hashes are likely, not certainly, those of equal words
                word = text[starts[start] : stops[start + size - 1]]
                if self._knows(word):
                    ends[start + size][size] = words.setdefault(word, len(words))
        return ends

    def _most_words(
        self, ends: Sequence[dict[int, int]], ranks: Sequence[int], ascending: bool
    ) -> tuple[list[int] | None, int]:
        """The longest chain of words from start to end, and how many chains there are, up to 2.

        Args:
            ends: as _ends gives them.
            ranks: the rank of each word among them all.
            ascending: whether each word has to be above the last.
        """
        best: list[dict[int, Chain]] = [{} for _ in ends]
        # of each place, its chains by the rank of their last word, and the best up to each
        ordered: list[list[int]] = [[] for _ in ends]
        up_to: list[list[Chain]] = [[] for _ in ends]
        ways: list[list[int]] = [[] for _ in ends]
        best[0][0], ordered[0], up_to[0], ways[0] = (0, 0), [-1], [(0, 0)], [1]
        for end, sizes in enumerate(ends):
            self._check()
            many_ways: dict[int, int] = {}
            for size, word in sizes.items():
                before = end - size
                rank = ranks[word] if ascending else len(ranks)
                place = bisect_left(ordered[before], rank)
                if place:
                    many, last = up_to[before][place - 1]
                    best[end][size] = (many + 1, last)
                    many_ways[size] = ways[before][place - 1]
            if end and best[end]:
                by_rank = sorted((ranks[sizes[size]], size) for size in best[end])
                ordered[end] = [rank for rank, _ in by_rank]
                top, total = (0, 0), 0
                for _, size in by_rank:
                    top = max(top, (best[end][size][0], size))
                    up_to[end].append(top)
                    total = min(total + many_ways[size], 2)
                    ways[end].append(total)
        if not best[-1]:
            return None, 0
        end = len(ends) - 1
        size = max(best[end], key=lambda s: best[end][s])
        chain = []
        while end > 0:
            chain.append(ends[end][size])
            end, size = end - size, best[end][size][1]
        return chain[::-1], ways[-1][-1]


def _word_hash(parts: Sequence[str]) -> int:
    """The sum of hash(part i) * BASE ** i, modulo 2 ** 64."""
    total = 0
    for part in reversed(parts):
        total = (total * BASE + hash(part)) & WHOLE
    return total


class _Windows:
    """The hashes of all runs of parts."""

    def __init__(self, parts: Sequence[str]) -> None:
        count = len(parts)
        own = np.array([hash(part) & WHOLE for part in parts], np.uint64)
        powers = np.full(count, BASE, np.uint64)
        self._back = np.full(count, INVERSE, np.uint64)
        powers[0] = self._back[0] = 1
        powers, self._back = np.cumprod(powers), np.cumprod(self._back)
        self._sums = np.append(np.uint64(0), np.cumsum(own * powers))

    def among(self, size: int, hashes: Hashes) -> npt.NDArray[np.int64]:
        """The starts of the runs of that many parts whose hash is among these, which ascend."""
        windows = (self._sums[size:] - self._sums[:-size]) * self._back[: len(self._sums) - size]
        place = np.minimum(np.searchsorted(hashes, windows), len(hashes) - 1)
        return np.flatnonzero(hashes[place] == windows)
