"""Pipelines and frames with which a client could try to show a face that a filter hides."""

from dataclasses import replace

import numpy as np

from scenes import Moment

#: The greatest distance of `sample` in kernels.
REACH = 32


def moved_pixels(distance: int, hide: str = "faceBlur") -> dict[str, list[str]]:
    """Returns pipelines as text that move what the frame shows by a distance to the right before it
    is hidden: those that a server refuses, and those that it accepts, which must hide the face."""
    kernels = [f'kernel(source: "sample(-{min(REACH, distance - start)}, 0)")'
               for start in range(0, distance, REACH)]
    convolution = "convolution3X3(weights: [0, 0, 0, 1, 0, 0, 0, 0, 0])"
    # Combs of black columns between blurs select the side from which each column is taken.
    comb = 'kernel(source: "color.rgb * step(5, mod(position.x + {}, 8))")'
    combs = [part for start in range(0, 20, 2)
             for part in (comb.format(start), "boxBlur(radius: 2)")]
    return {
        "refused": [
            ", ".join([*kernels, hide]),
            ", ".join([f"[{', '.join(kernels)}]", hide]),
            ", ".join([*[convolution] * min(distance, 60), hide]),
            f"zoomBlur(amount: 20), {hide}",
            f"affineTransform(transform: [1, 0, 0, 1, {distance}, 0]), {hide}",
        ],
        "accepted": [
            f"gaussianBlur(radius: 2), {hide}",
            ", ".join([*combs, hide]),
        ],
    }


def moved(moment: Moment, across: float, down: float = 0) -> Moment:
    """Returns the truth of a frame whose faces were moved, as `figures.exposure` takes it."""
    return replace(
        moment,
        faces=[replace(face, x=face.x + across, y=face.y + down) for face in moment.faces])


def alpha_portrait(color: np.ndarray, portrait: np.ndarray) -> np.ndarray:
    """Returns an RGBA frame with straight alpha that shows a portrait in alpha only.

    `color` is the colour of each pixel or of all, 8-bit RGB; `portrait` the frame's luma, whose
    range is stretched to 0 ... 255."""
    low, high = np.percentile(portrait, [1, 99])
    alpha = np.clip((portrait.astype(np.float32) - low) * 255 / max(high - low, 1), 0, 255)
    frame = np.empty((*portrait.shape, 4), np.uint8)
    frame[..., :3] = color
    frame[..., 3] = alpha.astype(np.uint8)
    return frame


def raced_slot(without_face: np.ndarray, with_face: np.ndarray) -> tuple[bytes, bytes]:
    """Returns the bytes of two frames of one layout. The client puts the first into its slot, sends
    it, and overwrites it with the second at once, against the protocol. A result may show either
    frame, but the face of neither."""
    if without_face.shape != with_face.shape or without_face.dtype != with_face.dtype:
        raise ValueError("the frames of a slot need one layout")
    return without_face.tobytes(), with_face.tobytes()
