"""The call server of `Examples/call`, with a record of the numbers in the pictures that it sends to
Sidelight. The variable `FRAME_RECORD` names the file: lines of a participant, a sequence and a
number.
"""

import os
import sys
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Examples/call"))

import call_server
import sidelight.numpy
from calltesting import barcode
from sidelight.aio import Server, Session

_participants: WeakKeyDictionary[Session, str] = WeakKeyDictionary()
_record = open(os.environ["FRAME_RECORD"], "a", buffering=1)
_open_session = Server.session
_send = Session.send


def _open_named_session(self: Server, *arguments: Any, **options: Any) -> Session:
    session = _open_session(self, *arguments, **options)
    _participants[session] = options.get("participant", "")
    return session


async def _send_recorded(self: Session, frame: Any) -> int:
    # Before the frame is sent: its pixels belong to the session then.
    number = barcode.read(sidelight.numpy.planes(frame.image)[0])
    sequence = await _send(self, frame)
    print(_participants.get(self, ""), sequence, number, file=_record)
    return sequence


Server.session = _open_named_session
Session.send = _send_recorded

if __name__ == "__main__":
    call_server.main()
