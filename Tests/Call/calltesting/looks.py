"""The looks of the camera's picture: with no filter, and with filters of an obvious effect."""

from dataclasses import dataclass

from .barcode import OUTSIDE_STRIP
from .latency import Sample

# A colour of an area differs by at most this much per channel: the codec's and the conversion's
# error.
TOLERANCE = 40


@dataclass(frozen=True)
class Look:
    """The colours of some areas of the camera's picture, and the pipeline that produces them."""

    pipeline: str
    colours: dict[str, tuple[int, int, int]]

    def shows(self, sample: Sample) -> bool:
        """Whether a frame has this look."""
        return all(
            abs(found - wanted) <= TOLERANCE
            for name, colour in self.colours.items()
            for found, wanted in zip(sample["colours"][name], colour, strict=True)
        )

    @property
    def condition(self) -> str:
        """The same as a condition of JavaScript on `frame`."""
        return " && ".join(
            f"Math.abs(frame.colours.{name}[{channel}] - {wanted}) <= {TOLERANCE}"
            for name, colour in self.colours.items()
            for channel, wanted in enumerate(colour)
        )


CLEAR = Look(
    "", {"red": (254, 0, 0), "green": (0, 255, 2), "blue": (0, 0, 253), "gray": (191, 191, 191)}
)
INVERTED = Look(
    f"colorInvert{OUTSIDE_STRIP}",
    {"red": (1, 255, 255), "green": (255, 0, 253), "blue": (255, 255, 2), "gray": (64, 64, 64)},
)
# Greys of the same luma (Rec. 601 here, as the picture is not larger).
GRAYSCALE = Look(
    f"grayscale{OUTSIDE_STRIP}",
    {"red": (76, 76, 76), "green": (150, 150, 150), "blue": (29, 29, 29), "gray": (191, 191, 191)},
)


def closest(sample: Sample, *looks: Look) -> Look:
    """Returns the look that a frame is most like."""

    def distance(look: Look) -> int:
        return sum(
            abs(found - wanted)
            for name, colour in look.colours.items()
            for found, wanted in zip(sample["colours"][name], colour, strict=True)
        )

    return min(looks, key=distance)
