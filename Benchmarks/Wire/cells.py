"""The measured cells: frames, transports and peers, in groups that are compared.

All combinations would take hours. Selected are the cells that the requirements compare, and one run of
each other peer."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Frame:
    """A picture as it is sent: rows without padding."""

    name: str
    format: str
    width: int
    height: int
    bytes: int

    @property
    def size(self) -> str:
        return f"{self.width}x{self.height}"

    @property
    def label(self) -> str:
        return f"{self.name}, {self.size} {self.format.removesuffix('8').upper()}"


KB1 = Frame("1 KB", "gray8", 32, 32, 1024)
KB20 = Frame("20 KB", "i420", 160, 90, 21_600)
KB460 = Frame("460 KB", "i420", 640, 480, 460_800)
HD720 = Frame("1.38 MB", "i420", 1280, 720, 1_382_400)
HD1080 = Frame("3.1 MB", "i420", 1920, 1080, 3_110_400)
HD1080_BGRA = Frame("8.3 MB", "bgra8", 1920, 1080, 8_294_400)
UHD = Frame("12.4 MB", "nv12", 3840, 2160, 12_441_600)
UHD_BGRA = Frame("33 MB", "bgra8", 3840, 2160, 33_177_600)
FRAMES = [KB20, KB460, HD720, HD1080, HD1080_BGRA, UHD]

TCP, UNIX, MEMORY = "TCP", "Unix socket", "shared memory"


@dataclass(frozen=True)
class Cell:
    """A load on one peer, over one transport; or, if `transport` is `None`, the work without a transport."""

    peer: str
    transport: str | None
    frame: Frame
    in_flight: int = 1
    streams: int = 1
    #: The connections that the streams share; by default one for every stream.
    connections: int | None = None
    #: Frames a second per stream; `None` sends a frame when one returns.
    fps: float | None = None
    work: str = "none"
    jpeg: int | None = None

    def over(self, transport: str) -> "Cell":
        return replace(self, transport=transport)

    def by(self, peer: str) -> "Cell":
        return replace(self, peer=peer)

    @property
    def label(self) -> str:
        parts = [self.peer, self.transport or "no transport", self.frame.name]
        if self.transport:
            parts.append(f"{self.streams} x {self.in_flight} in flight")
        if self.connections:
            parts.append(f"{self.connections} connection")
        if self.work != "none":
            parts.append(self.work)
        return ", ".join(parts)


@dataclass
class Group:
    """Cells that are measured in turns, so other work of the machine affects all of them."""

    cells: list[Cell]
    rounds: int = 1
    #: The measured time and the warm-up in seconds; `None` uses the defaults.
    seconds: float | None = None
    warm_up: float | None = None


OURS, GENERATED, CPP, CPP_PLAIN = "Sidelight", "generated Swift", "C++ gRPC", "C++ gRPC, plain malloc"
CPP_WINDOWS, CROSS = "C++ gRPC, our windows", "C++ client, our server"
PYTHON, SOCKETS, COPY = "Python grpcio", "C sockets", "memcpy"
KERNEL, CODEC = "kernels alone", "codec alone"


def tcp(quick: bool) -> list[Group]:
    """One stream over TCP: every peer once; compared peers in several rounds."""
    groups = []
    for frame in [KB20, HD720, HD1080_BGRA] if quick else FRAMES:
        copies = [Cell(COPY, None, frame)]
        for in_flight in (1, 4):
            ours = Cell(OURS, TCP, frame, in_flight)
            groups.append(Group([ours, ours.by(CPP)], 1 if quick else 3))
            others = [GENERATED, CPP_PLAIN, SOCKETS]
            if frame in (KB20, HD720, HD1080_BGRA):
                others += [PYTHON, CPP_WINDOWS, CROSS]
            if quick:
                others = [GENERATED, PYTHON, SOCKETS] if frame is HD720 and in_flight == 4 else []
            groups.append(Group([ours.by(peer) for peer in others] + copies))
            copies = []
    return groups


def unix(quick: bool) -> list[Group]:
    """One stream over a Unix socket, in turns with our own TCP where they are compared."""
    groups = []
    for frame in [HD1080_BGRA] if quick else FRAMES:
        for in_flight in (1, 4):
            ours = Cell(OURS, UNIX, frame, in_flight)
            if frame is HD1080_BGRA:
                groups.append(Group([ours, ours.over(TCP)], 1 if quick else 3))
                groups.append(Group([ours.by(peer) for peer in (CPP, SOCKETS) if not quick]))
            else:
                groups.append(Group([ours, ours.by(CPP), ours.by(SOCKETS)]))
    return groups


def streams(quick: bool) -> list[Group]:
    """Many streams, over separate connections and over one."""
    groups = []
    for frame in [HD720] if quick else [KB20, HD720, HD1080_BGRA]:
        for count in (16,) if quick else (4, 16):
            separate = Cell(OURS, TCP, frame, streams=count)
            shared = replace(separate, connections=1)
            groups.append(Group([separate, separate.by(CPP), shared, shared.by(CPP)]))
    return groups


def memory(quick: bool) -> list[Group]:
    """Pixels in shared memory, compared with the smallest message and with inline pixels."""
    frames = [HD720, HD1080_BGRA, UHD_BGRA] if quick else [*FRAMES, UHD_BGRA]
    rounds = 1 if quick else 3
    inline = Cell(OURS, UNIX, HD1080_BGRA, 1)
    chain = Cell(OURS, MEMORY, UHD_BGRA, work="five")
    return [
        Group([Cell(OURS, UNIX, KB1), *(Cell(OURS, MEMORY, frame) for frame in frames)], rounds),
        Group([cell for in_flight in (1, 4) for cell in (
            replace(inline, in_flight=in_flight),
            replace(inline, in_flight=in_flight, transport=MEMORY))], rounds),
        Group([] if quick else [
            Cell(OURS, MEMORY, frame, 4) for frame in frames if frame is not HD1080_BGRA]),
        Group([chain, replace(chain, peer=KERNEL, transport=None)], rounds),
    ]


def jpeg(quick: bool) -> list[Group]:
    """Compressed frames through a pipeline, and the same without a transport."""
    stream = Cell(GENERATED, TCP, HD720, 4, work="vintage", jpeg=80)
    alone = Cell(CODEC, None, HD720, work="vintage", jpeg=80)
    return [Group([stream, alone], 1 if quick else 3)]


def sessions(quick: bool) -> list[Group]:
    """Many sessions, open loop."""
    return [Group([Cell(OURS, TCP, HD720, 4, streams=64, fps=30)],
                  seconds=3 if quick else 8, warm_up=2)]


PARTS = {"tcp": tcp, "unix": unix, "streams": streams, "memory": memory, "jpeg": jpeg,
         "sessions": sessions}
