"""Filters a picture by a kernel, a filter from text.

    python kernel.py 127.0.0.1:50051 glow.kernel photo.jpg filtered.jpg intensity=0.9

Without values, it prints the kernel's parameters and uses their defaults.
"""

from __future__ import annotations

import sys
from pathlib import Path

import sidelight


def main(address: str, text: Path, source: Path, target: Path, values: dict[str, float]) -> None:
    """Writes the filtered picture."""
    with sidelight.connect(address) as server:
        asset = server.assets.put("look.kernel", text)
        if asset.kernel is not None and not values:
            for parameter in asset.kernel.parameters.values():
                print(f"{parameter.name}={parameter.default}  {parameter.summary}")
        image = sidelight.Image.file(source.read_bytes())
        look = sidelight.Stage("kernel", {"asset": "look.kernel", **values})
        result = server.apply(image, [look])
        target.write_bytes(result.image.data)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit("usage: kernel.py ADDRESS KERNEL SOURCE TARGET [NAME=NUMBER ...]")
    numbers = dict(each.split("=") for each in sys.argv[5:])
    try:
        text, source, target = map(Path, sys.argv[2:5])
        values = {name: float(number) for name, number in numbers.items()}
        main(sys.argv[1], text, source, target, values)
    except sidelight.SidelightError as error:
        sys.exit(str(error))
