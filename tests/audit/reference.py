"""How sets were taken apart at first: every run of parts is looked up, and every chain of words is
looked at. Slow, and plain to read."""

from __future__ import annotations

from collections.abc import Callable


def split_known(
    text: str, separator: str, knows: Callable[[str], bool], longest: int
) -> list[str] | None:
    """The known words that a text joins, where words may hold the separator themselves.

    Of several readings one in ascending order is taken, which is how sets are published, and of
    those one with the most words. None: there is none.

    Args:
        text: words joined by the separator.
        separator: what is between them.
        knows: whether a word is one.
        longest: how many parts a word has at most.
    """
    parts = text.split(separator)
    if longest == 1 or len(parts) == 1:
        return parts if all(map(knows, parts)) else None
    ends: list[dict[int, str]] = [{} for _ in range(len(parts) + 1)]
    for end in range(1, len(parts) + 1):
        for size in range(1, min(longest, end) + 1):
            word = separator.join(parts[end - size : end])
            if knows(word):
                ends[end][size] = word
    return _most_words(ends, True) or _most_words(ends, False)


def _most_words(ends: list[dict[int, str]], ascending: bool) -> list[str] | None:
    """The longest chain of words from start to end.

    Args:
        ends: for each number of parts the words that end there, by the parts that they take.
        ascending: whether each word has to be above the last.
    """
    best: list[dict[int, tuple[int, int]]] = [{} for _ in ends]
    best[0][0] = (0, 0)
    for end, words in enumerate(ends):
        for size, word in words.items():
            before = end - size
            found = [
                (many + 1, last) for last, (many, _) in best[before].items()
                if not ascending or before == 0 or ends[before][last] < word
            ]
            if found:
                best[end][size] = max(found)
    if not best[-1]:
        return None
    end = len(ends) - 1
    size = max(best[end], key=lambda s: best[end][s])
    words_back = []
    while end > 0:
        words_back.append(ends[end][size])
        end, size = end - size, best[end][size][1]
    return words_back[::-1]
