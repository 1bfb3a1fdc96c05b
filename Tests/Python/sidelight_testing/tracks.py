"""The events of the examples that filter a live track, as they print them."""

from dataclasses import dataclass


@dataclass
class Shown:
    """A frame that came back: its number, kind and revision, and the luma before and after."""

    sequence: int
    kind: str
    revision: int
    before: int
    after: int


@dataclass
class Track:
    """The frames, drops and counts of one session of a program."""

    shown: list[Shown]
    # The numbers and the reason of each run of dropped frames.
    dropped: list[tuple[range, str]]
    # The numbers of all frames, in the order of their outcomes.
    order: list[int]

    @classmethod
    def of(cls, lines: list[str]) -> "Track":
        """Reads the lines `frame ...` and `dropped ...`."""
        track = cls([], [], [])
        for line in lines:
            word, *rest = line.split()
            if word == "frame":
                sequence, kind, *numbers = rest
                frame = Shown(int(sequence), kind, *map(int, numbers))
                track.shown.append(frame)
                track.order.append(frame.sequence)
            elif word == "dropped":
                run = range(int(rest[0]), int(rest[1]) + 1)
                track.dropped.append((run, rest[2]))
                track.order += run
        return track


def counts(lines: list[str]) -> dict[str, int]:
    """The numbers in the line `counts NAME NUMBER NAME NUMBER ...`."""
    (line,) = [line for line in lines if line.startswith("counts ")]
    words = line.split()[1:]
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))
