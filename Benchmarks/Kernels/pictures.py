"""The picture of all peers, in every format, and the colour cube."""

from pathlib import Path

import numpy as np

WIDTH, HEIGHT = 1920, 1080


def scene() -> np.ndarray:
    """BGRA: gradients, hard edges, fine texture and noise up to the edges; alpha 255."""
    random = np.random.default_rng(7)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    base = np.stack([
        120 + 90 * np.sin(x / 130) * np.cos(y / 90),
        255 * x / WIDTH,
        255 * (1 - y / HEIGHT) * (0.6 + 0.4 * np.cos(x / 37)),
    ], -1)
    checks = ((x // 61 + y // 47) % 5 == 0)[..., None] * np.array([70.0, -60.0, 90.0])
    texture = 25 * np.sin(x * 1.3 + y * 0.7)[..., None]
    noise = random.normal(0, 9, (HEIGHT, WIDTH, 3))
    pixels = np.full((HEIGHT, WIDTH, 4), 255, np.uint8)
    pixels[..., :3] = np.clip(base + checks + texture + noise, 0, 255)
    return pixels


def dark(bgra: np.ndarray) -> np.ndarray:
    """A fifth of the light, and noise; alpha 255."""
    noise = np.random.default_rng(8).normal(0, 3, (HEIGHT, WIDTH, 3))
    pixels = np.full_like(bgra, 255)
    pixels[..., :3] = np.clip(bgra[..., :3] / 5 + noise, 0, 255)
    return pixels


def planes(bgra: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Y, Cb and Cr: video range, BT.601, chroma the mean of 2x2 pixels."""
    b, g, r = (bgra[..., c].astype(np.float64) for c in range(3))
    luma = 0.299 * r + 0.587 * g + 0.114 * b
    def mean(plane):
        return plane.reshape(HEIGHT // 2, 2, WIDTH // 2, 2).mean((1, 3))
    u, v = mean((b - luma) / 1.772) * 224 / 255 + 128, mean((r - luma) / 1.402) * 224 / 255 + 128
    return tuple(np.round(p).astype(np.uint8) for p in (luma * 219 / 255 + 16, u, v))


def write(folder: Path) -> None:
    """Writes NAME.raw for every format, and cube.cube."""
    folder.mkdir(parents=True, exist_ok=True)
    bgra = scene()
    y, u, v = planes(bgra)
    raw = {
        "bgra": bgra, "dark-bgra": dark(bgra), "rgb24": bgra[..., 2::-1], "gray8": bgra[..., 1],
        "i420": np.concatenate([y.ravel(), u.ravel(), v.ravel()]),
        "nv12": np.concatenate([y.ravel(), np.stack([u, v], -1).ravel()]),
    }
    for name, data in raw.items():
        np.ascontiguousarray(data).tofile(folder / f"{name}.raw")
    steps = np.linspace(0, 1, 33)
    with open(folder / "cube.cube", "w") as file:
        print("LUT_3D_SIZE 33", file=file)
        for b in steps:
            for g in steps:
                for r in steps:
                    print(f"{r**0.8:.6f} {g * 0.9 + r * 0.1:.6f} {b**1.2:.6f}", file=file)
