"""TLS of the GStreamer element: properties with the paths of PEM files."""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping, Tuple

from ._validation import invalid

__all__ = ["ARGUMENTS", "contents", "properties", "with_property_names"]

#: The arguments of `connect`, by the properties that name their files.
ARGUMENTS = {
    "ca-file": "root_certificates",
    "certificate-file": "certificate",
    "private-key-file": "private_key",
}
_BLURBS = {
    "ca-file": "PEM file with the authorities that may sign the server's certificate",
    "certificate-file": "PEM file with this client's certificate, for a server that requires one",
    "private-key-file": "PEM file with the key of the client's certificate",
}
# The words of a message that are arguments: `the server's certificate is` is plain English.
_ARGUMENT = re.compile(r"root_certificates|private_key|(?<=: )certificate(?= is )")


def properties(flags: Any) -> Dict[str, Tuple[Any, ...]]:
    """Returns the properties, for `__gproperties__`."""
    return {
        name: (str, name.replace("-", " ").capitalize(), blurb, "", flags)
        for name, blurb in _BLURBS.items()
    }


def contents(texts: Mapping[str, str]) -> Dict[str, Any]:
    """Returns the arguments of `connect` for the files that the properties name.

    Raises `InvalidArgument` for files that cannot be read.
    """
    found: Dict[str, Any] = {}
    for name, argument in ARGUMENTS.items():
        path = texts[name]
        if not path:
            continue
        try:
            with open(path, "rb") as file:
                found[argument] = file.read()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise invalid(name, path, f"a PEM file that can be read ({reason})") from error
    return found


def with_property_names(message: str) -> str:
    """Returns the message of an error, with properties in place of the arguments of `connect`."""
    names = {argument: name for name, argument in ARGUMENTS.items()}
    return _ARGUMENT.sub(lambda found: names[found[0]], message)
