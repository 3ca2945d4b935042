"""From rows to points: NULLs, scales, codes and places."""
