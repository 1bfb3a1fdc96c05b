"""A host of filter processes: the server's side of `filter_process.proto`, without a server."""

from __future__ import annotations

import contextlib
import mmap
import os
import queue
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import numpy as np

from sidelight._values import value_message
from sidelight.v1 import filter_process_pb2 as contract

TOKEN = "a secret of the test"
MEMORY_BYTES = 1 << 24
SECONDS = 60
PREFACE = """\
from typing import *
import enum
import numpy as np
from sidelight.filters_server import *
"""


def values_of(parameters: dict) -> dict:
    """The messages of values by name."""
    return {name: value_message(name, value) for name, value in parameters.items()}


class FilterHost:
    """Runs a program as a filter process, which `attach` waits for.

    `status` refuses the process.
    """

    def __init__(self, folder: Path, program: str, status: grpc.StatusCode | None = None) -> None:
        self._script = folder / "filters.py"
        self._script.write_text(PREFACE + program)
        self._status = status
        self._received: queue.SimpleQueue = queue.SimpleQueue()
        self._messages: queue.SimpleQueue = queue.SimpleQueue()
        self._frames = 0
        self._contexts = contextlib.ExitStack()

    def __enter__(self) -> FilterHost:
        folder = self._contexts.enter_context(tempfile.TemporaryDirectory(prefix="sidelight-"))
        descriptor = os.memfd_create("filter")
        os.ftruncate(descriptor, MEMORY_BYTES)
        self.memory = np.frombuffer(mmap.mmap(descriptor, MEMORY_BYTES), np.uint8)
        handler = grpc.stream_stream_rpc_method_handler(
            self._attach,
            request_deserializer=contract.ProcessMessage.FromString,
            response_serializer=contract.HostMessage.SerializeToString,
        )
        self._server = grpc.server(ThreadPoolExecutor(2))
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler("sidelight.v1.FilterHost", {"Attach": handler})]
        )
        self._server.add_insecure_port(f"unix:{folder}/socket")
        self._server.start()
        self.process = subprocess.Popen(
            [sys.executable, self._script],
            env={
                **os.environ,
                "SIDELIGHT_FILTER_SOCKET": f"{folder}/socket",
                "SIDELIGHT_FILTER_TOKEN": TOKEN,
                "SIDELIGHT_FILTER_MEMORY": str(descriptor),
            },
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        os.close(descriptor)
        return self

    def __exit__(self, *_: object) -> None:
        self._messages.put(None)
        self.process.kill()
        self.process.communicate()
        self._server.stop(0).wait()
        self._contexts.close()

    def end(self) -> str:
        """Ends the call. Returns what the process printed; it must exit with status 0."""
        self._messages.put(None)
        printed, _ = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, printed
        return printed

    def attach(self) -> contract.ProcessMessage.Hello:
        """Waits for the first message, and welcomes the process."""
        hello = self.receive("hello")
        assert hello.token == TOKEN and 1 in hello.versions
        self.send(welcome={"version": 1, "memory_bytes": MEMORY_BYTES})
        return hello

    def open(self, session: int, filter: str, **parameters) -> None:
        """Opens a session, and waits for the answer; a refusal fails."""
        values = values_of(parameters)
        self.send(open_session=dict(session=session, filter=filter, parameters=values))
        assert self.receive("opened").session == session

    def frame(self, session: int, offset: int, shape: tuple[int, ...], **fields) -> int:
        """Sends a picture of one plane at a place in the memory. Returns the frame's number."""
        self._frames += 1
        input = fields.pop("input", None) or self.picture(offset, shape)
        if "parameters" in fields:
            fields["parameters"] = {"values": values_of(fields["parameters"])}
        self.send(frame=dict(frame=self._frames, session=session, input=input, **fields))
        return self._frames

    def picture(self, offset: int, shape: tuple[int, ...], padding: int = 0) -> dict:
        """The message of a picture of one plane."""
        stride = shape[1] * (shape[2] if len(shape) > 2 else 1) + padding
        plane = {"offset": offset, "stride": stride}
        return {"width": shape[1], "height": shape[0], "planes": [plane]}

    def pixels(self, offset: int, shape: tuple[int, ...]) -> np.ndarray:
        """An array of the memory."""
        return self.memory[offset : offset + int(np.prod(shape))].reshape(shape)

    def send(self, **message) -> None:
        """Sends a message."""
        self._messages.put(contract.HostMessage(**message))

    def receive(self, kind: str):
        """Waits for the next message of the process, which must be of a kind."""
        message = self._received.get(timeout=SECONDS)
        assert message is not None, f"the process ended: {self.process.communicate()[0]}"
        assert message.WhichOneof("kind") == kind, message
        return getattr(message, kind)

    def _attach(self, messages, context):
        if self._status is not None:
            context.abort(self._status, "name is taken; it must be another")

        def read():
            with contextlib.suppress(grpc.RpcError):
                for message in messages:
                    self._received.put(message)
            self._received.put(None)

        reader = ThreadPoolExecutor(1)
        reader.submit(read)
        yield from iter(self._messages.get, None)
        reader.shutdown(wait=False)
