"""Sizes and field violations of a server's answers."""

import grpc
import pytest

from .contract import error_details
from .session import Session

# The maximum size of an answer to long strings, which the server does not repeat.
MAX_ANSWER_BYTES = 8 << 10


def refusal(call) -> tuple[grpc.StatusCode, str]:
    """The code and the sentence with which a call is refused."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    assert len(caught.value.details()) < 1000
    return caught.value.code(), caught.value.details()


def violation(status) -> error_details.BadRequest.FieldViolation:
    """Returns the field violation of an INVALID_ARGUMENT status."""
    assert status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0], status.message[:1000]
    request = error_details.BadRequest()
    assert any(detail.Unpack(request) for detail in status.details), status.message[:1000]
    return request.field_violations[0]


def error_info(status) -> error_details.ErrorInfo:
    """Returns the parts of a status for programs."""
    info = error_details.ErrorInfo()
    assert any(detail.Unpack(info) for detail in status.details), status.message[:1000]
    return info


def answer_bytes(error: grpc.RpcError) -> int:
    """Returns the size of a status: message and details."""
    details = (len(key) + len(value) for key, value in error.trailing_metadata() or ())
    return len((error.details() or "").encode()) + sum(details)


def received_bytes(session: Session) -> int:
    """Returns the size of all messages after `opened`."""
    return sum(each.ByteSize() for each in session.transcript.all)
