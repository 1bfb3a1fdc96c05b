"""Sessions over a link that is cut for 5 seconds: the first new frame comes soon after it."""

import pytest

from sidelight_testing.cuts import cut_python_client, cut_swift_client
from sidelight_testing.link import ADDRESSES, SERVER, Conditions
from sidelight_testing.server import Server

CONDITIONS = Conditions(rate=5e6, delay=0.025)


@pytest.mark.parametrize("client", ["python sync", "python aio", "swift"])
def test_a_new_frame_comes_soon_after_a_cut(make_link, client):
    link = make_link(CONDITIONS)
    with Server(within=link.command(SERVER), host=ADDRESSES[SERVER]) as server:
        address = server.addresses["tcp"]
        if client == "swift":
            cut = cut_swift_client(link, address)
        else:
            cut = cut_python_client(link, address, face=client.split()[1])
    assert cut.before > 20
    # 0.5 to 1 s on two quiet processors. TCP alone, which waits longer after each loss, needs 4 s.
    assert cut.seconds <= 2.5
    # Each frame has one outcome, in order.
    assert len(cut.captured) == 12 * (25 if client == "swift" else 30)
    assert cut.captured == sorted(cut.captured)
