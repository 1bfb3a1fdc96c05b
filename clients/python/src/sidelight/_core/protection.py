"""The parts of frames that the filters of a pipeline hide.

The client knows filters by name only, so their names are listed here. A filter that protects is
added to `_FACES` or `_BACKGROUNDS`.
"""

from __future__ import annotations

import re
from typing import Any

FACES = "faces"
BACKGROUND = "background"

NOTHING: frozenset[str] = frozenset()
EVERYTHING = frozenset((FACES, BACKGROUND))

_FACES = frozenset(("faceblur", "facepixellate"))
_BACKGROUNDS = frozenset(("virtualbackground", "backgroundblur"))
#: The parameter that ends the protection of the background.
_OPT_OUT = "protect"

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def _canonical(name: str, prefix: str) -> str:
    """Returns a name without Core Image's prefix, in lower case."""
    lowered = name.lower()
    return lowered[len(prefix) :] if lowered.startswith(prefix) else lowered


def protection_of_message(pipeline: Any) -> frozenset[str]:
    """Returns the parts that the active stages of a `Pipeline` message hide."""
    hidden: frozenset[str] = NOTHING
    for stage in pipeline.stages:
        if stage.HasField("active") and not stage.active:
            continue
        if stage.WhichOneof("content") == "pipeline":
            hidden |= protection_of_message(stage.pipeline)
            continue
        name = _canonical(stage.filter.name, "ci")
        if name in _FACES:
            hidden |= {FACES}
        elif name in _BACKGROUNDS and not _opts_out(stage.filter.parameters):
            hidden |= {BACKGROUND}
    return hidden


def _opts_out(parameters: Any) -> bool:
    values = [value for key, value in parameters.items() if _canonical(key, "input") == _OPT_OUT]
    return bool(values) and all(
        value.WhichOneof("kind") == "flag" and not value.flag for value in values
    )


def protection_of_text(text: str) -> frozenset[str]:
    """Returns the parts that a pipeline in text form may hide.

    The text is not parsed. One that names a filter which protects counts as protecting, also where
    the stage is off. A text with an escape counts as protecting too, since a name could be spelled
    with it.
    """
    if "\\" in text:
        return EVERYTHING
    names = {_canonical(word, "ci") for word in _WORD.findall(text)}
    hidden: frozenset[str] = NOTHING
    if names & _FACES:
        hidden |= {FACES}
    if names & _BACKGROUNDS:
        hidden |= {BACKGROUND}
    return hidden
