"""A person to draw: the portrait of Examples/media, cut out of its background.

The cut need not be exact: scenes are drawn with it, so its alpha is their truth."""

import sys
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).parent.parent.parent
#: The square around the face in the portrait, as the cascade alt2 finds it: centre and side.
FACE_CENTER = np.array([224.0, 114.5])
FACE_SIZE = 101.0


def portrait() -> np.ndarray:
    """Returns the portrait, 512x512, BGR."""
    return cv2.imread(str(ROOT / "Examples/media/portrait.jpg"))


def cutout() -> np.ndarray:
    """Returns the person as BGRA, alpha straight."""
    picture = portrait()
    mask = np.full(picture.shape[:2], cv2.GC_BGD, np.uint8)
    # Head with hair, neck and suit: roughly.
    cv2.ellipse(mask, (222, 105), (98, 112), 0, 0, 360, cv2.GC_PR_FGD, -1)
    body = np.array([[150, 190], [300, 190], [395, 260], [470, 330], [500, 512], [0, 512],
                     [10, 380], [70, 270]])
    cv2.fillPoly(mask, [body], cv2.GC_PR_FGD)
    cv2.ellipse(mask, (224, 118), (52, 72), 0, 0, 360, cv2.GC_FGD, -1)
    core = np.array([[180, 220], [270, 220], [350, 290], [400, 400], [420, 512], [70, 512],
                     [90, 330]])
    cv2.fillPoly(mask, [core], cv2.GC_FGD)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.setRNGSeed(1)
    cv2.grabCut(picture, mask, None, *models, 6, cv2.GC_INIT_WITH_MASK)
    alpha = np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8)
    # The largest region without holes, half a pixel soft.
    count, labels, stats, _ = cv2.connectedComponentsWithStats(alpha)
    alpha = (labels == 1 + np.argmax(stats[1:, cv2.CC_STAT_AREA])).astype(np.uint8)
    holes, labels, stats, _ = cv2.connectedComponentsWithStats(1 - alpha)
    for label in range(1, holes):
        if stats[label, cv2.CC_STAT_AREA] < 2000:
            alpha[labels == label] = 1
    alpha = cv2.morphologyEx(alpha, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    alpha = cv2.GaussianBlur(alpha.astype(np.float32), (0, 0), 1.0)
    # A little inwards, so the old background does not show.
    alpha = np.clip((alpha - 0.5) / 0.5, 0, 1)
    return np.dstack([picture, np.round(alpha * 255).astype(np.uint8)])


if __name__ == "__main__":
    person = cutout()
    alpha = person[..., 3:] / 255.0
    green = np.array([64, 176, 0])
    cv2.imwrite(sys.argv[1], (person[..., :3] * alpha + green * (1 - alpha)).astype(np.uint8))
