"""A filter process by the contract alone: good filters, and one that breaks every rule on demand.

Runs as a program. It needs the contract's code on its path.
"""

import contextlib
import mmap
import os
import queue
import resource
import signal
import socket
import sys
import threading
import time

import grpc
import numpy as np
from sidelight.v1 import catalogue_pb2 as catalogue
from sidelight.v1 import filter_process_pb2 as contract
from sidelight.v1 import filter_process_pb2_grpc as service
from sidelight.v1 import image_pb2 as image
from sidelight.v1 import pipeline_pb2 as pipeline

Message = contract.ProcessMessage


def number(name: str, default: float, maximum: float) -> catalogue.ParameterDescription:
    return catalogue.ParameterDescription(
        name=name, kind=catalogue.PARAMETER_KIND_NUMBER, summary="A number.",
        default_value=pipeline.ParameterValue(number=default),
        limits=catalogue.NumberRange(minimum=0, maximum=maximum),
    )


def offer(name: str, format: int, *parameters, **options) -> contract.FilterOffer:
    description = catalogue.FilterDescription(
        name=name, summary=f"The test's {name}.", parameters=parameters
    )
    return contract.FilterOffer(filter=description, format=format, **options)


MODES = [
    "work", "fail", "exit", "hang", "deaf", "stop", "foreign", "flood", "unknown", "huge", "sleep",
    "refuse", "shout", "late", "shrink", "gulp", "escape",
]
mode = catalogue.ParameterDescription(
    name="mode", kind=catalogue.PARAMETER_KIND_CHOICE, choices=MODES, summary="What it does.",
    default_value=pipeline.ParameterValue(text="work"),
)
OFFERS = [
    offer("negate", image.PIXEL_FORMAT_RGB24, number("amount", 1, 1)),
    offer("halve", image.PIXEL_FORMAT_BGRA8, output=contract.OutputSize(scale=0.5)),
    offer("mean", image.PIXEL_FORMAT_GRAY8, kind=contract.FILTER_KIND_ANALYSIS),
    offer("tally", image.PIXEL_FORMAT_GRAY8, is_stateful=True),
    offer("misbehave", image.PIXEL_FORMAT_GRAY8, mode, number("seconds", 0.2, 10)),
    offer("lazy", image.PIXEL_FORMAT_GRAY8, output=contract.OutputSize(scale=1)),
    offer("spy", image.PIXEL_FORMAT_BGRA8, *[
        catalogue.ParameterDescription(
            name=name, kind=catalogue.PARAMETER_KIND_TEXT, summary="Pixels in hexadecimal digits.",
            default_value=pipeline.ParameterValue(text=""),
        )
        for name in ("secret", "place")
    ]),
    offer("confinement", image.PIXEL_FORMAT_GRAY8, kind=contract.FILTER_KIND_ANALYSIS),
]
CHANNELS = {
    "negate": (3,), "halve": (4,), "mean": (), "tally": (), "misbehave": (), "lazy": (),
    "spy": (4,), "confinement": (),
}


def confinement() -> dict[str, str]:
    """What this process may do."""
    with open("/proc/self/status") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    return {
        "folder": os.getcwd(), "temporary": os.environ["TMPDIR"], "entries": str(os.listdir()),
        "privileges": status["NoNewPrivs"], "capabilities": status["CapEff"].strip("0"),
        "descriptors": str(resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        "interfaces": " ".join(name for _, name in socket.if_nameindex()),
    }


class Peer:
    def __init__(self) -> None:
        descriptor = int(os.environ["SIDELIGHT_FILTER_MEMORY"])
        self.memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
        self.outgoing: queue.SimpleQueue = queue.SimpleQueue()
        self.descriptor = descriptor
        self.sessions: dict[int, list] = {}
        #: The picture that was returned last by the mode "late".
        self.returned: np.ndarray | None = None
        #: Whether the spy has seen its secret.
        self.has_seen = False
        self.outgoing.put(Message(hello=Message.Hello(
            versions=[1], token=os.environ["SIDELIGHT_FILTER_TOKEN"], filters=self.offers(),
            library="filter_peer",
        )))

    @staticmethod
    def offers() -> list[contract.FilterOffer]:
        broken = os.environ.get("PEER_OFFER", "")
        if broken == "builtin":
            return [offer("sepiaTone", image.PIXEL_FORMAT_RGB24)]
        if broken == "kind":
            return [offer("thing", image.PIXEL_FORMAT_RGB24, kind=99)]
        if broken == "parameters":
            matte = contract.FILTER_KIND_MATTE
            return [offer("thing", image.PIXEL_FORMAT_RGB24, number("amount", 1, 1), kind=matte)]
        if broken == "format":
            return [offer("thing", image.PIXEL_FORMAT_JPEG)]
        if broken and os.path.exists(broken):
            # The content of the file is the filter's work, or its name if it is not known.
            name = open(broken).read()
            return OFFERS if name in ("", "again") else [offer(name, image.PIXEL_FORMAT_RGB24)]
        if broken == "twice":
            return [OFFERS[0], OFFERS[0]]
        return OFFERS

    def view(self, picture: contract.HostMessage.Picture, channels: tuple[int, ...]) -> np.ndarray:
        width = picture.width * (channels[0] if channels else 1)
        plane = picture.planes[0]
        rows = np.ndarray(
            (picture.height, width), np.uint8, self.memory, plane.offset, (plane.stride, 1)
        )
        return rows.reshape(picture.height, picture.width, *channels)

    def filter(self, frame: contract.HostMessage.Frame) -> None:
        session = self.sessions[frame.session]
        if frame.HasField("parameters"):
            session[1] = frame.parameters.values
        name, parameters = session[0], session[1]
        if self.returned is not None:
            self.returned[:] = 200
            self.returned = None
        picture = self.view(frame.input, CHANNELS[name])
        result = Message.Result(frame=frame.frame, process_us=1)
        if name == "negate":
            picture[:] = np.abs(picture - np.float32(255) * parameters["amount"].number).astype("u1")
        elif name == "halve":
            self.view(frame.output, (4,))[:] = picture[: frame.output.height, : frame.output.width]
        elif name == "mean":
            result.analysis.figures["mean"] = picture.mean()
            result.analysis.figures["process"] = os.getpid()
            result.analysis.detections.add(kind="spot", x=1, y=2, width=3, height=4, confidence=0.5)
        elif name == "tally":
            session[2] += 1
            picture[:] = session[2]
        elif name == "spy":
            picture[0, 0] = 255 if self.has_seen else 0
            session[2] += 1
            if session[2] == 1:
                x, y = map(int, parameters["place"].text.split())
                place = frame.input.planes[0].offset + y * frame.input.planes[0].stride + 4 * x
                secret = bytes.fromhex(parameters["secret"].text)
                arguments = (frame.session, place, secret)
                threading.Thread(target=self.spy, args=arguments, daemon=True).start()
        elif name == "confinement":
            result.analysis.words.update(confinement())
        elif name == "misbehave" and not self.misbehave(frame, parameters, picture):
            return
        self.outgoing.put(Message(result=result))

    def spy(self, session: int, place: int, secret: bytes) -> None:
        """Looks for bytes in the memory while a session is open."""
        while session in self.sessions and not self.has_seen:
            self.has_seen = self.memory[place : place + len(secret)] == secret

    def misbehave(
        self, frame: contract.HostMessage.Frame, parameters, picture: np.ndarray
    ) -> bool:
        """Returns whether the frame gets a result."""
        mode = parameters["mode"].text
        if mode == "fail":
            failed = Message.Failed(
                frame=frame.frame, message="ValueError: no", detail="Traceback ...\nValueError: no"
            )
            self.outgoing.put(Message(failed=failed))
            return False
        if mode == "exit":
            print("about to leave", flush=True)
            os._exit(7)
        if mode == "hang":
            return False
        if mode == "deaf":
            threading.Event().wait()
        if mode == "escape":
            for leave in (lambda: os.setpgid(0, os.getpgid(os.getppid())), os.setsid):
                with contextlib.suppress(OSError):
                    leave()
            return False
        if mode == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if mode == "foreign":
            self.outgoing.put(Message(result=Message.Result(frame=frame.frame + 1)))
        if mode == "flood":
            for _ in range(1_000_000):
                self.outgoing.put(Message(opened=Message.Opened(session=frame.session)))
        if mode == "unknown":
            for _ in range(2000):
                self.outgoing.put(Message())
        if mode == "huge":
            failed = Message.Failed(frame=frame.frame, message="no", detail="x" * (2 << 20))
            self.outgoing.put(Message(failed=failed))
            return False
        if mode == "late":
            picture[:] = 50
            self.returned = picture
        if mode in ("shrink", "gulp"):
            memory = os.sysconf("SC_PHYS_PAGES") * mmap.PAGESIZE
            try:
                if mode == "shrink":
                    os.ftruncate(self.descriptor, 0)
                else:
                    mmap.mmap(-1, max(2 << 30, memory * 3 // 4), mmap.MAP_PRIVATE)
                os._exit(9)
            except OSError:
                pass
        if mode == "shout":
            print("a line of noise\n" * 100_000, flush=True)
        if mode == "sleep":
            time.sleep(parameters["seconds"].number)
        return True

    def run(self) -> None:
        """Follows the messages of the host."""
        channel = grpc.insecure_channel("unix:" + os.environ["SIDELIGHT_FILTER_SOCKET"])
        try:
            for message in service.FilterHostStub(channel).Attach(iter(self.outgoing.get, None)):
                kind = message.WhichOneof("kind")
                if kind == "open_session":
                    opened = message.open_session
                    refuses = opened.parameters["mode"].text == "refuse"
                    if refuses:
                        answer = Message(refused=Message.Refused(
                            session=opened.session, message="RuntimeError: no model"))
                    else:
                        answer = Message(opened=Message.Opened(session=opened.session))
                        self.sessions[opened.session] = [opened.filter, opened.parameters, 0]
                    self.outgoing.put(answer)
                elif kind == "frame" and message.frame.session in self.sessions:
                    self.filter(message.frame)
                elif kind == "close_session":
                    self.sessions.pop(message.close_session.session, None)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")


if __name__ == "__main__":
    if os.environ.get("PEER_OFFER") == "crash":
        sys.exit("ImportError: no module named filters")
    print("hello from the filters", flush=True)
    Peer().run()
