"""The errors of calls and of refused changes. Dropped frames are outcomes, not errors."""

from __future__ import annotations

import re
from typing import Any, Dict, Optional, Tuple, Type

__all__ = [
    "Aborted",
    "DeadlineExceeded",
    "FailedPrecondition",
    "InvalidArgument",
    "NotFound",
    "PermissionDenied",
    "ResourceExhausted",
    "SidelightError",
    "Unauthenticated",
    "Unavailable",
]


class SidelightError(Exception):
    """An error of the server, or of the connection to it.

    - `code`: the name of the gRPC status code, such as `"INVALID_ARGUMENT"`.
    - `message`: the description for a person.
    - `field`: the path of the invalid field in the request; `None` if the error does not name one.
    - `value`, `limit`: the refused value and the limit, as texts; `None` if it does not state them.
    - `suggestion`: the nearest valid name, if a name is unknown.
    - `line`, `column`: the position in a pipeline's text, counted from 1.
    - `details`: further facts by name (the metadata of `google.rpc.ErrorInfo`), such as `reason`.
    - `retry_after`: the seconds after which the server accepts another attempt.
    """

    code = "UNKNOWN"

    def __init__(
        self,
        message: str,
        *,
        code: Optional[str] = None,
        field: Optional[str] = None,
        value: Optional[str] = None,
        limit: Optional[str] = None,
        suggestion: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        details: Optional[dict[str, str]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code if code is not None else type(self).code
        self.message = message
        self.field = field
        self.value = value
        self.limit = limit
        self.suggestion = suggestion
        self.line = line
        self.column = column
        self.details = details if details is not None else {}
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class InvalidArgument(SidelightError):
    """A request that is invalid on every server."""

    code = "INVALID_ARGUMENT"


class PermissionDenied(SidelightError):
    """A request that the caller may not make, such as a filter outside its allow-list."""

    code = "PERMISSION_DENIED"


class NotFound(SidelightError):
    """A name that does not exist."""

    code = "NOT_FOUND"


class FailedPrecondition(SidelightError):
    """A request that the server cannot serve in its state, or that lacks a part of the server."""

    code = "FAILED_PRECONDITION"


class Unavailable(SidelightError):
    """A server that cannot be reached, or is shutting down."""

    code = "UNAVAILABLE"


class ResourceExhausted(SidelightError):
    """A limit of the server, or of this client, that is reached."""

    code = "RESOURCE_EXHAUSTED"


class Unauthenticated(SidelightError):
    """Missing, invalid or expired credentials."""

    code = "UNAUTHENTICATED"


class Aborted(SidelightError):
    """A change that required another revision than the one in force."""

    code = "ABORTED"


class DeadlineExceeded(SidelightError, TimeoutError):
    """A time limit that passed. Also a `TimeoutError`."""

    code = "DEADLINE_EXCEEDED"


#: The names of gRPC's status codes, by number.
CODE_NAMES: tuple[str, ...] = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)

_CLASSES: dict[str, type[SidelightError]] = {
    each.code: each
    for each in (
        InvalidArgument,
        PermissionDenied,
        NotFound,
        FailedPrecondition,
        Unavailable,
        ResourceExhausted,
        Unauthenticated,
        Aborted,
        DeadlineExceeded,
    )
}

_SUGGESTION = re.compile(r"did you mean (\"?)([^?\"]+)\1\?")
_VALUE = re.compile(r"^(?:is|was|has) (-?[\w.+-]+|\"[^\"]*\")")
_LIMIT = re.compile(r"must be ([^;]+?)(?:;|\.?$)")


def make_error(code: str, message: str, **facts: Any) -> SidelightError:
    """Returns an error of the class that belongs to a status code."""
    kind = _CLASSES.get(code, SidelightError)
    return kind(message, code=code, **facts)


def error_of_status(status: Any) -> SidelightError:
    """Returns the error of a `google.rpc.Status` message, with the facts of its details."""
    from google.rpc import error_details_pb2  # type: ignore[import-untyped]

    facts: dict[str, Any] = {}
    for detail in status.details:
        violations = error_details_pb2.BadRequest()
        info = error_details_pb2.ErrorInfo()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(violations):
            for violation in violations.field_violations[:1]:
                facts["field"] = violation.field
                facts.update(_facts_of(violation.description))
        elif detail.Unpack(info):
            details = dict(info.metadata)
            for name in ("line", "column"):
                if details.get(name, "").isdigit():
                    facts[name] = int(details[name])
            for name in ("suggestion", "value", "limit"):
                if details.get(name):
                    facts[name] = details[name]
            if info.reason:
                details["reason"] = info.reason
            facts["details"] = details
        elif detail.Unpack(retry):
            facts["retry_after"] = retry.retry_delay.ToTimedelta().total_seconds()
    code = CODE_NAMES[status.code] if 0 <= status.code < len(CODE_NAMES) else "UNKNOWN"
    for name, value in _facts_of(status.message).items():
        if name == "suggestion":
            facts.setdefault(name, value)
    return make_error(code, status.message, **facts)


def _facts_of(description: str) -> dict[str, str]:
    """Returns the facts that a violation's description states in words."""
    facts: dict[str, str] = {}
    for name, pattern, group in (
        ("suggestion", _SUGGESTION, 2),
        ("value", _VALUE, 1),
        ("limit", _LIMIT, 1),
    ):
        match = pattern.search(description)
        if match:
            facts[name] = match.group(group).strip('"')
    return facts
