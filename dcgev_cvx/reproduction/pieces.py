"""The components of a long run on disk, one file each: an interrupted run goes on at the next (Section 5.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .cells import Scratch, digest, write_atomically
from .retrieval import Component


class Pieces:
    """The components of a run on disk, one file each; each file's check covers all before it."""

    def __init__(self, scratch: Scratch, settings: Mapping[str, Any], d: int) -> None:
        self._folder = scratch.folder
        self._say: Callable[[str], None] = scratch.say
        self._check = digest(settings)
        self._count, self._d = 0, d

    def known(self) -> list[Component]:
        """Every whole file in order, up to the first that is missing or damaged."""
        components: list[Component] = []
        for j in range(self._d):
            try:
                content = json.loads(self._path(j).read_text(encoding="utf-8"))
                check = digest([self._check, content["component"]])
                if content["check"] != check:
                    break
                components.append(Component.from_dict(content["component"]))
            except (OSError, ValueError, KeyError, TypeError, IndexError):
                break
            self._check, self._count = check, j + 1
        if components:
            self._say(f"table5: {len(components)} of {self._d} components are on disk already.")
        return components

    def keep(self, component: Component) -> None:
        """Write one more; every 25th is told."""
        content = json.loads(json.dumps(component.to_dict()))
        self._check = digest([self._check, content])
        write_atomically(self._path(self._count), json.dumps({"component": content, "check": self._check}))
        self._count += 1
        if self._count % 25 == 0:
            self._say(f"table5: {self._count} of {self._d} components, the last in {component.seconds:.1f} s.")

    def _path(self, j: int) -> Path:
        return self._folder / f"component-{j + 1:04d}.json"
