"""What mkdocs needs to know of this repository: where links lead that leave docs/.

Pages link to files beside docs/, as in ``../examples/explore.py``. Those files become part of the
site, in its folder repository/: texts as pages, code as pages that show it, all else as it is.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
INSIDE = "repository/"
"""The folder of the site for files from outside docs/."""

LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.M)
NAMED = re.compile(r"^```(\S+) (.+)$", re.M)
SHOWN = {".patch": "diff", ".py": "python", ".sql": "sql", ".toml": "toml", ".yml": "yaml"}
"""Endings of files that are shown on a page, and the language of each."""


def place_of(name: str) -> str:
    """Where a file of the repository stands in the sources of the site."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return f"{INSIDE}{name}{'.md' if Path(name).suffix in SHOWN else ''}"


def name_of(place: str) -> str:
    """The file of the repository that stands there."""
    if not place.startswith(INSIDE):
        return f"docs/{place}"
    name = place.removeprefix(INSIDE)
    return name if (ROOT / name).exists() else name.removesuffix(".md")


def linked(name: str) -> list[str]:
    """The files of the repository that a text links to."""
    text = FENCED.sub("", (ROOT / name).read_text(encoding="utf-8"))
    links = [link for _, link, _ in LINK.findall(text) if "://" not in link]
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name), link)) for link in links]


def on_files(files: Files, config: Any) -> Files:
    """Takes in what pages link to, and what those pages link to."""
    todo = [name_of(file.src_uri) for file in files if file.src_uri.endswith(".md")]
    seen = set(todo)
    for name in todo:
        if name.endswith(".md") and (ROOT / name).is_file():
            new = [link for link in linked(name) if link not in seen]
            seen.update(new)
            todo.extend(new)
        if not name.startswith("docs/") and (ROOT / name).is_file():
            language = SHOWN.get((ROOT / name).suffix)
            if language:
                code = (ROOT / name).read_text(encoding="utf-8")
                text = f"# {name}\n\n``````{language}\n{code}``````\n"
                files.append(File.generated(config, place_of(name), content=text))
            else:
                path = str(ROOT / name)
                files.append(File.generated(config, place_of(name), abs_src_path=path))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links by the places that files have in the site, and the name of a file over its code."""
    place = page.file.src_uri
    here = posixpath.dirname(name_of(place))

    def moved(found: re.Match[str]) -> str:
        before, link, after = found.groups()
        if "://" in link:
            return found[0]
        target = place_of(posixpath.normpath(posixpath.join(here, link)))
        return before + posixpath.relpath(target, posixpath.dirname(place) or ".") + after

    # what stands between fences is code
    parts = re.split(f"({FENCED.pattern})", markdown, flags=FENCED.flags)
    return "".join(
        NAMED.sub(r'```\1 title="\2"', part, count=1) if at % 2 else LINK.sub(moved, part)
        for at, part in enumerate(parts)
    )
