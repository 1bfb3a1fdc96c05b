"""Figures of quality, from frames and the truth of their scenes."""

import cv2
import numpy as np

from scenes import HEIGHT, WIDTH, Face, Moment, from_i420

#: Cb and Cr of the marker, magenta.
MARKER = np.array([202.0, 222.0])
CHROMA = (HEIGHT // 2, WIDTH // 2)


def chroma(frame: np.ndarray) -> np.ndarray:
    return frame[WIDTH * HEIGHT:].reshape(2, *CHROMA).astype(np.float32)


def marker_places(before: np.ndarray, after: np.ndarray, count: int = 1) -> list:
    """Returns the centres of the largest regions of a marker in a frame, in pixels."""
    old, new = chroma(before), chroma(after)
    if (old == new).all():
        return []
    toward = MARKER[:, None, None] - old
    share = ((new - old) * toward).sum(0) / np.maximum((toward ** 2).sum(0), 1)
    share = np.clip(share, 0, 1)
    share[share < 0.1] = 0
    found, labels, stats, _ = cv2.connectedComponentsWithStats((share > 0.5).astype(np.uint8))
    largest = sorted(range(1, found), key=lambda label: -stats[label, cv2.CC_STAT_AREA])
    places = []
    for label in largest[:count]:
        x, y, width, height = stats[label, :4]
        part = slice(max(0, y - 3), y + height + 3), slice(max(0, x - 3), x + width + 3)
        weights = share[part]
        rows, columns = np.mgrid[part]
        total = weights.sum()
        if total >= 20:
            places.append((2 * ((columns * weights).sum() / total + 0.5),
                           2 * ((rows * weights).sum() / total + 0.5)))
    return places


def errors(places: list, faces: list[Face]) -> np.ndarray:
    """Returns the distances from the truth in pixels, frame by frame.

    Every finder has its own middle of a face: the median of its differences, in face widths and
    turned with the face, is removed. A frame without a face is NaN."""
    differences = np.full((len(faces), 2), np.nan)
    for index, (place, face) in enumerate(zip(places, faces)):
        if place is not None:
            angle = np.radians(face.roll)
            turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
            differences[index] = turn @ (np.array(place) - (face.x, face.y)) / face.size
    differences -= np.nanmedian(differences, axis=0)
    return np.hypot(*differences.T) * np.array([face.size for face in faces])


def jitter(places: list) -> float:
    """The root mean square of the distances from the mean place of a face that does not move."""
    found = np.array([place for place in places if place is not None])
    return float(np.sqrt(((found - found.mean(0)) ** 2).sum(1).mean())) if len(found) else np.nan


def fine_detail(frame: np.ndarray) -> np.ndarray:
    luma = frame[:WIDTH * HEIGHT].reshape(HEIGHT, WIDTH).astype(np.float32)
    return luma - cv2.GaussianBlur(luma, (0, 0), 1.5)


def kept(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Returns the share of the fine detail of luma that a result keeps, in squares of eight pixels:
    about 1 where it is unchanged, and about 0 where it is covered, also by a mosaic, which has other
    edges."""
    old, new = fine_detail(before), fine_detail(after)
    size = WIDTH // 8, HEIGHT // 8
    both = cv2.resize(old * new, size, interpolation=cv2.INTER_AREA)
    return both / np.maximum(cv2.resize(old * old, size, interpolation=cv2.INTER_AREA), 1e-3)


def exposure(before: np.ndarray, after: np.ndarray, moment: Moment) -> float:
    """Returns the greatest share of a face that is shown.

    A square of eight pixels is shown if it keeps half of its fine detail. Faces with less than
    a twentieth of their area in the frame, backs of heads and what a hand covers do not count."""
    visible = kept(before, after) > 0.5
    shown = 0.0
    for face in moment.faces:
        if face.is_away:
            continue
        mask = face.mask()
        whole = np.pi * 0.45 * face.squeeze * 0.55 * face.size ** 2
        if mask.sum() < 0.05 * whole:
            continue
        if moment.cover:
            x, y, side = (round(value) for value in moment.cover)
            mask[max(0, y - side // 2):y + side // 2, max(0, x - side // 2):x + side // 2] = False
        squares = cv2.resize(
            mask.astype(np.float32), (WIDTH // 8, HEIGHT // 8), interpolation=cv2.INTER_AREA) > 0.9
        if squares.any():
            shown = max(shown, float(visible[squares].mean()))
    return shown


def is_whole(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether the whole frame is covered: hardly a square keeps its fine detail."""
    return float((kept(before, after) > 0.5).mean()) < 0.02


def overlap(alpha: np.ndarray, truth: np.ndarray) -> float:
    """Returns the intersection over the union."""
    one, other = alpha >= 0.5, truth >= 0.5
    return float((one & other).sum() / max(1, (one | other).sum()))


def edge_error(alpha: np.ndarray, truth: np.ndarray) -> float:
    """Returns the mean error of alpha within 7 pixels of the edge, times 1000."""
    solid = (truth >= 0.5).astype(np.uint8)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (15, 15))
    band = cv2.dilate(solid, kernel) != cv2.erode(solid, kernel)
    return float(1000 * np.abs(alpha - truth)[band].mean())


def picture(frame: np.ndarray) -> np.ndarray:
    return from_i420(np.array(frame))
