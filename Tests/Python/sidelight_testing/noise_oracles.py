"""The formulas of filters that draw noise, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Noise is 65536
bytes, the top ones of SplitMix64 of 0, 1, 2 ...; every row reads a run of them from an offset that
seed, frame and row give.
"""

import numpy as np

from .formulas import formula_of

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mix(value: int) -> int:
    """SplitMix64 (Steele, Lea, Flood 2014): the output for a state."""
    z = (value + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def noise(height: int, width: int, seed: int, frame: int = 0) -> np.ndarray:
    """Noise of 0-1 for each pixel of a frame."""
    seed, rows = int(seed), []
    for y in range(height):
        start = mix(mix(mix((seed + GOLDEN) & MASK) ^ frame) ^ y) % 65536
        rows.append([(mix(start + x) >> 56) / 255 for x in range(width)])
    return np.array(rows)


@formula_of("grain")
def grain(amount: float, seed: int, monochrome: bool = True):
    def formula(colors):
        height, width, _ = colors.shape
        seeds = [seed] * 3 if monochrome else [int(seed) + (channel << 32) for channel in (1, 2, 3)]
        channels = [1 - amount * noise(height, width, each) for each in seeds]
        return colors * np.stack(channels, axis=-1)

    return formula


@formula_of("randomGenerator")
def random_generator(seed: int):
    def formula(colors):
        height, width, _ = colors.shape
        seeds = [int(seed) + ((channel + 8) << 32) for channel in range(3)]
        return 255 * np.stack([1 - noise(height, width, each) for each in seeds], axis=-1)

    return formula
