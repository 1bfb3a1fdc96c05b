"""Draws docs/images/assets.jpg: a sticker and a colour table that were uploaded to a running server.

    SIDELIGHT_TEST_MEDIA=FOLDER dev/python Tools/Pictures/assets.py OUTPUT.jpg
"""

import io
import os
import sys
from pathlib import Path

import grpc
import numpy as np
import PIL.Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Python"))
from sidelight_testing import assets
from sidelight_testing.contract import assets_service, frame_filter, image, service
from sidelight_testing.server import Server
from sidelight_testing.session import pipeline


def teal(size: int = 17) -> np.ndarray:
    """A look: shadows go to blue, lights keep their colour."""
    axis = np.linspace(0, 1, size)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    return np.stack([red**1.4, green**0.9, 0.15 + 0.85 * blue**0.8], axis=-1)


def main(output: str) -> None:
    photograph = Path(os.environ["SIDELIGHT_TEST_MEDIA"]) / "coffee.png"
    look = pipeline(
        ("colorCube", {"asset": "teal"}),
        ("overlay", {"asset": "hat", "origin": [360, 20], "width": 210.0, "height": 200.0}),
        ("overlay",
         {"asset": "hat", "origin": [0, 240], "width": 80.0, "height": 80.0, "opacity": 0.5}),
    )
    with Server() as server, grpc.insecure_channel(server.addresses["tcp"]) as channel:
        shelf = assets_service.AssetsStub(channel)
        assets.put(shelf, "hat", assets.png(assets.sticker(200)))
        assets.put(shelf, "teal", assets.cube_file(teal()))
        still = image.Image(format=image.PIXEL_FORMAT_PNG, inline=photograph.read_bytes())
        answer = service.FrameFilterStub(channel).Apply(
            frame_filter.ApplyRequest(image=still, pipeline=look), timeout=60
        )
    PIL.Image.open(io.BytesIO(answer.image.inline)).save(output, quality=88)


if __name__ == "__main__":
    main(sys.argv[1])
