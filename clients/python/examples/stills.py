"""Filters all JPEG and PNG files of a folder, several at a time.

    python stills.py 127.0.0.1:50051 photos filtered 'sepiaTone, vignette'

Files are sent as they are; the server decodes and encodes them.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sidelight

SUFFIXES = {".jpg", ".jpeg", ".png"}
CALLS_AT_A_TIME = 4


def main(address: str, source: Path, target: Path, pipeline: str) -> int:
    """Returns the number of files that could not be filtered."""
    target.mkdir(parents=True, exist_ok=True)
    files = sorted(file for file in source.iterdir() if file.suffix.lower() in SUFFIXES)
    failed = 0
    with sidelight.connect(address) as server, ThreadPoolExecutor(CALLS_AT_A_TIME) as pool:

        def convert(file: Path) -> str:
            try:
                image = sidelight.Image.file(file)
                result = server.apply(image, pipeline)
            except sidelight.InvalidArgument as error:
                return f"{file.name}: {error.message}"
            (target / file.name).write_bytes(result.image.data)
            return ""

        for error in pool.map(convert, files):
            if error:
                failed += 1
                print(error, file=sys.stderr)
    print(f"{len(files) - failed} of {len(files)} files filtered")
    return failed


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: stills.py ADDRESS SOURCE-FOLDER TARGET-FOLDER PIPELINE")
    try:
        failures = main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
    except sidelight.SidelightError as error:
        sys.exit(str(error))
    sys.exit(bool(failures))
