"""Twenty clients of the studio, one of them hostile: the sessions of the others lose no frame."""

import contextlib
import io
import random

import numpy as np
import PIL.Image
import pytest

from sidelight_testing.contract import session as messages
from sidelight_testing.server import Server
from sidelight_testing.studio_clients import StudioClient, StudioClients, outcome_faults
from sidelight_testing.websocket import Page
from websocket_attacks import WebSocketAttacks

ATTACKER = "127.0.0.4"
SESSIONS = 19
NEWEST, NEVER = messages.DROP_POLICY_NEWEST_WINS, messages.DROP_POLICY_NEVER_DROP
# Twenty sines in turn for every channel: a hundred times slower than a colour matrix.
SLOW = f'kernel(source: "color.rgb + 0.01 * {"sin(" * 20}color.rgb{")" * 20}")'
PIPELINES = [
    "sepiaTone, vignette",
    SLOW,
    "colorInvert",
    "gaussianBlur(radius: 8)",
    "crystallize(radius: 12), sepiaTone",
]


@pytest.fixture(scope="module")
def server():
    """A server that notices silence soon, and must still run after the attacks."""
    with Server(
        # On a busy machine the sessions would be more than it can serve.
        *("--studio", "127.0.0.1:0", "--max-load", "0"),
        *("--guards-keepalive-interval", "1s"),
    ) as running:
        yield running
        assert running.process.poll() is None, f"the server died:\n{running.log}"
        assert running.terminate() == 0, running.log


def clients() -> list[StudioClient]:
    """Sessions with different filters, sizes and policies; every fifth has a slow filter.

    The page's own policy replaces frames that wait by newer ones. Such a session sends one frame at
    a time, so every drop is a loss; the others have two frames on their way.
    """
    result = []
    for index in range(SESSIONS):
        is_page = index % 2 == 0
        result.append(
            StudioClient(
                name=f"client {index}", pipeline_text=PIPELINES[index % len(PIPELINES)],
                drop_policy=NEWEST if is_page else NEVER, window=1 if is_page else 2,
                jpeg=jpeg(160, 90, index) if index % 3 else jpeg(320, 180, index),
            )
        )
    return result


def jpeg(width: int, height: int, seed: int) -> bytes:
    """A picture with noise, as large in JPEG as a camera's picture."""
    picture = np.random.default_rng(seed).normal(128, 20, (height, width, 3))
    picture += np.linspace(-80, 80, width)[None, :, None]
    content = io.BytesIO()
    PIL.Image.fromarray(picture.clip(0, 255).astype(np.uint8)).save(content, "JPEG", quality=82)
    return content.getvalue()


def test_nineteen_sessions_lose_no_frame_next_to_a_hostile_client(server):
    """After every attack every session gets a frame that it sent afterwards. In the end every frame
    has one outcome, which is the filtered picture, in the order in which they were sent."""
    page = Page(server.addresses["studio"])
    sockets = WebSocketAttacks(page, ATTACKER, random.Random(1))
    with contextlib.closing(sockets), StudioClients(page, clients()) as running:
        running.wait_for_a_frame_of_each()
        for name, attack in sockets.named():
            with contextlib.suppress(OSError):
                attack()
            try:
                running.wait_for_a_frame_of_each()
            except AssertionError as failure:
                failure.add_note(f"after the attack {name!r}")
                raise
        # The server has given up the half-open sockets meanwhile, or does so now.
        assert sockets.half_open
        for peer in sockets.half_open:
            assert peer.is_closed()
    faults = [fault for client in running.clients for fault in outcome_faults(client)]
    assert not faults, faults
    assert min(len(client.sent) for client in running.clients) > len(dict(sockets.named()))
