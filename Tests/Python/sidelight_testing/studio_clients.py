"""Sessions of many studio pages at once: each sends a JPEG frame when the one before is back."""

import threading
from dataclasses import dataclass, field
from typing import Self

from .contract import image as image_messages
from .contract import session as messages
from .session import Transcript
from .websocket import Page, WebSession

# The time for one frame of every session. A machine under load is slow, and no frame may be lost.
PATIENCE_SECONDS = 60


@dataclass
class StudioClient:
    """One session: its pipeline, the policy for frames that wait, and its frames."""

    name: str
    pipeline_text: str
    drop_policy: int
    # The frames that are sent before the first of them is back.
    window: int
    jpeg: bytes
    sent: list[int] = field(default_factory=list)
    transcript: Transcript = field(default_factory=Transcript)
    failure: BaseException | None = None


class StudioClients:
    """Sessions on separate connections, each in a thread, within a `with` block."""

    def __init__(self, page: Page, clients: list[StudioClient]) -> None:
        self.clients = clients
        self._page = page
        self._is_done = False
        self._progress = threading.Condition()
        self._threads = [
            threading.Thread(target=self._run, args=(client,), name=client.name)
            for client in clients
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_done = True
        for thread in self._threads:
            thread.join()

    def wait_for_a_frame_of_each(self) -> None:
        """Waits until every session has got a frame that it had not sent at the time of the call.

        Fails if a session has ended.
        """
        with self._progress:
            goals = [(client, len(client.sent)) for client in self.clients]
            for client, sent in goals:
                came = self._progress.wait_for(
                    lambda client=client, sent=sent: client.failure
                    or len(client.transcript.frames) > sent,
                    PATIENCE_SECONDS,
                )
                assert came, f"{client.name} got no frame in {PATIENCE_SECONDS} s"
                assert not client.failure, f"{client.name}: {client.failure!r}"

    def _run(self, client: StudioClient) -> None:
        try:
            with WebSession(
                self._page, label=client.name, pipeline_text=client.pipeline_text,
                drop_policy=client.drop_policy,
            ) as session:
                client.sent, client.transcript = session.sent, session.transcript
                assert client.window <= session.opened.frames_in_flight
                self._filter(client, session)
                session.finish()
        except BaseException as failure:
            client.failure = failure
        with self._progress:
            self._progress.notify_all()

    def _filter(self, client: StudioClient, session: WebSession) -> None:
        picture = image_messages.Image(
            format=image_messages.PIXEL_FORMAT_JPEG, inline=client.jpeg
        )
        for _ in range(client.window):
            session.send_frame(picture)
        while not self._is_done:
            message = session.receive()
            assert message.WhichOneof("kind") != "dropped", message.dropped
            if message.WhichOneof("kind") == "frame":
                with self._progress:
                    self._progress.notify_all()
                session.send_frame(picture)


def outcome_faults(client: StudioClient) -> list[str]:
    """Returns what is wrong with the outcomes of a session that has ended: every frame has one, in
    the order in which they were sent, and it is the same filtered picture."""
    if client.failure:
        return [f"{client.name}: {client.failure!r}"]
    faults = []
    expected = [(sequence, "frame") for sequence in client.sent]
    outcomes = client.transcript.outcomes(client.sent)
    if outcomes != expected:
        others = [each for each in outcomes if each[1] != "frame"]
        faults.append(
            f"{client.name}: {len(expected)} frames, {len(outcomes)} outcomes, not frames: "
            f"{others[:5]}"
        )
    filtered = messages.DISPOSITION_FILTERED
    pictures = {frame.image.inline for frame in client.transcript.frames}
    if len(pictures) != 1 or client.jpeg in pictures:
        faults.append(f"{client.name}: {len(pictures)} different pictures")
    if any(frame.disposition != filtered for frame in client.transcript.frames):
        faults.append(f"{client.name}: a frame is not filtered")
    return faults
