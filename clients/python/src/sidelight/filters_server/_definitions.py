"""The decorators, and the filters and analyses that they define."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Optional, TypeVar, Union, get_type_hints

from .._formats import PixelFormat
from .._image_messages import format_number
from .._layouts import MAX_DIMENSION
from .._validation import finite, integer, invalid, one_of
from ..errors import InvalidArgument
from ..v1 import catalogue_pb2, filter_process_pb2
from ._metadata import FrameContext
from ._parameters import Parameter, checked_name, parameter_of

__all__ = [
    "Definition",
    "Format",
    "Kind",
    "Worker",
    "analysis",
    "define",
    "defined",
    "face_finder",
    "filter",
    "matte",
]

#: A pixel format that a filter declares.
Format = Literal["bgra", "rgb", "gray", "i420", "nv12"]

#: The kind of a definition, as messages name it.
Kind = Literal["filter", "analysis", "matte", "face finder"]

_KINDS = {
    "filter": filter_process_pb2.FILTER_KIND_PICTURE,
    "analysis": filter_process_pb2.FILTER_KIND_ANALYSIS,
    "matte": filter_process_pb2.FILTER_KIND_MATTE,
    "face finder": filter_process_pb2.FILTER_KIND_FACES,
}
_FORMATS = ("bgra", "rgb", "gray", "i420", "nv12")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s)")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_Target = TypeVar("_Target", bound=Callable[..., Any])


@dataclass(frozen=True)
class Definition:
    """A filter, an analysis, a matte or a face finder."""

    #: The name and the kind for messages: `filter 'sunset'`.
    owner: str
    name: str
    kind: Kind
    format: PixelFormat
    #: The function, or the class with the state of a session.
    target: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    #: The name of the argument for the metadata; `None` without one.
    context_argument: Optional[str]
    #: Whether the return annotation is `None`. `None`: there is no annotation.
    returns_none: Optional[bool]
    #: The largest number of frames in one call; 1 without batches.
    batch: int
    #: The seconds for which a frame waits for others of its batch.
    wait: float
    #: The offer to the host.
    offer: filter_process_pb2.FilterOffer

    def values(self, messages: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of the function for the values of the parameters."""
        return {
            parameter.argument: parameter.value(messages[parameter.description.name])
            for parameter in self.parameters
            if parameter.description.name in messages
        }

    def __str__(self) -> str:
        values = ", ".join(f"{each.description.name}: {_text(each)}" for each in self.parameters)
        return f"{self.name}({values})" if values else self.name


class Worker:
    """The function of a definition, or an instance of its class, for a session."""

    def __init__(self, definition: Definition) -> None:
        self._instance: Any = None
        self._context_argument = definition.context_argument
        self._process: Callable[..., Any] = definition.target
        if inspect.isclass(definition.target):
            self._instance = definition.target()
            self._process = self._instance.process

    def __call__(self, picture: Any, context: Any, values: Mapping[str, Any]) -> Any:
        """Calls the function."""
        if self._context_argument is not None:
            return self._process(picture, **{self._context_argument: context}, **values)
        return self._process(picture, **values)

    def close(self) -> None:
        """Ends the session."""
        close = getattr(self._instance, "close", None)
        if close is not None:
            close()


#: The definitions that `serve` offers, by name.
_definitions: dict[str, Definition] = {}


def defined() -> list[Definition]:
    """Returns the definitions of this process."""
    return list(_definitions.values())


def define(definition: Definition) -> None:
    """Adds a definition. Raises `InvalidArgument` for a name that exists."""
    if definition.name in _definitions:
        raise InvalidArgument(f"{definition.owner} is defined twice; rename one of them")
    _definitions[definition.name] = definition


def filter(
    name: str,
    *,
    summary: str = "",
    format: Format = "bgra",
    size: Optional[tuple[int, int]] = None,
    scale: Union[int, float, Fraction] = 1,
    batch: int = 1,
    wait: str = "0ms",
) -> Callable[[_Target], _Target]:
    """Offers a function or class as a filter of the catalogue.

    The first argument of the function is the picture: an array of `uint8` in shared memory, valid
    during the call only. Its shape is (height, width, channels), (height, width) for grey; for I420
    and NV12 it is a tuple of planes. A function whose return annotation is `None` changes it in
    place; others return a new picture.

    Other arguments are parameters, with annotations and defaults; see `Range`. An argument with the
    annotation `FrameContext` gets the frame's metadata.

    A class has a method `process` with these arguments, and an instance for every session. Its
    optional method `close` ends the session.

    - name: The name in pipelines, in lower camel case.
    - summary: The description, in one line. Default: the first line of the docstring.
    - format: The format that the function expects and returns. The server converts where needed.
    - size: The width and height of new pictures, 1 to 16384 each.
    - scale: The size of new pictures as a multiple of the input's, 1/16 to 16.
    - batch: The largest number of frames in one call, 1 to 64. Above 1 the function gets lists of
      pictures and of their `FrameContext`, and returns a list of new pictures, or `None`. They
      belong to several sessions that have the same parameters, and may differ in size.
    - wait: The time for which a frame waits for others, at most `"1s"`. It does not wait where that
      would make it late.

    Raises `InvalidArgument` for a name that is taken, and for annotations, formats and defaults
    that the catalogue cannot describe.
    """
    return _decorator("filter", name, summary, format, size, scale, batch, wait, 0)


def analysis(
    name: str,
    *,
    summary: str = "",
    format: Format = "rgb",
    every_nth: int = 1,
    batch: int = 1,
    wait: str = "0ms",
) -> Callable[[_Target], _Target]:
    """Offers a function or class as an analysis, which returns `Results`.

    It gets the frame as it arrived, beside the frame's path. The picture is read-only.

    - every_nth: The interval between analysed frames, 1 to 1000.

    Takes the other arguments of `filter` too.
    """
    integer("every_nth", every_nth, 1, 1000)
    return _decorator("analysis", name, summary, format, None, 1, batch, wait, every_nth)


def matte(
    name: str,
    *,
    summary: str = "",
    format: Format = "rgb",
    size: Optional[tuple[int, int]] = None,
    scale: Union[int, float, Fraction] = 1,
    batch: int = 1,
    wait: str = "0ms",
) -> Callable[[_Target], _Target]:
    """Offers a function or class as a matte: `virtualBackground(matte: NAME)`.

    It gets a read-only picture of at most 320x180 pixels, or 180x320: the frame as displayed, of
    every second frame at least. It returns an array of `uint8`, height by width: 255 for people, 0
    for the background. The server scales it. Without a result in half of the frame's time, a
    pipeline that protects covers the frame.

    - size, scale: The size of the array, at most 1024 by 1024. Default: the picture's.

    Takes the other arguments of `filter` too. The function has no parameters.
    """
    return _decorator("matte", name, summary, format, size, scale, batch, wait, 0)


def face_finder(
    name: str,
    *,
    summary: str = "",
    format: Format = "rgb",
    batch: int = 1,
    wait: str = "0ms",
) -> Callable[[_Target], _Target]:
    """Offers a function or class that finds the faces for all filters which need faces.

    It replaces the server's own search; a server has one. It gets pictures as `matte` does, not of
    every frame, and returns a sequence of `Face`, at most 64. The server follows faces meanwhile. An
    exception is a failed search: filters that protect then cover the whole frame.

    Takes the other arguments of `filter` too. The function has no parameters.
    """
    return _decorator("face finder", name, summary, format, None, 1, batch, wait, 0)


def _decorator(
    kind: Kind,
    name: str,
    summary: str,
    format: str,
    size: Optional[tuple[int, int]],
    scale: Union[int, float, Fraction],
    batch: int,
    wait: str,
    every_nth: int,
) -> Callable[[_Target], _Target]:
    if callable(name):
        raise InvalidArgument(
            f'the decorator has no name; write @{kind.replace(" ", "_")}("name")'
        )
    owner = f"{kind} {checked_name(f'the name of the {kind}', name)!r}"
    if format not in _FORMATS:
        raise one_of(f"{owner}: format", format, _FORMATS)
    integer(f"{owner}: batch", batch, 1, 64)
    seconds = _seconds(f"{owner}: wait", wait)
    output = _output(owner, size, scale)

    def decorate(target: _Target) -> _Target:
        function = _function(owner, target, batch > 1)
        hints = _hints(owner, function)
        context, parameters = _arguments(owner, target, function, hints, batch > 1)
        returns_none = hints["return"] is type(None) if "return" in hints else None
        if kind != "filter":
            if returns_none and kind != "analysis":
                raise InvalidArgument(f"{owner} is annotated to return None; it must return a result")
            if parameters and kind != "analysis":
                raise InvalidArgument(
                    f"{owner} has the parameter {parameters[0].argument}; it cannot have parameters"
                )
        elif returns_none and (output.width or output.height or output.scale):
            raise InvalidArgument(f"{owner} changes the picture in place; it has no size or scale")
        line = summary or (inspect.getdoc(target) or "").partition("\n")[0]
        if not line.strip():
            raise InvalidArgument(f"{owner} has no summary; describe it in one line")
        offer = filter_process_pb2.FilterOffer(
            filter=catalogue_pb2.FilterDescription(
                name=name,
                summary=line,
                parameters=[parameter.description for parameter in parameters],
            ),
            kind=_KINDS[kind],
            format=format_number(PixelFormat(format)),
            output=None if returns_none or kind in ("analysis", "face finder") else output,
            is_stateful=inspect.isclass(target),
            every_nth=every_nth,
            fills_output=True,
        )
        define(
            Definition(
                owner,
                name,
                kind,
                PixelFormat(format),
                target,
                tuple(parameters),
                context,
                returns_none,
                batch,
                seconds,
                offer,
            )
        )
        return target

    return decorate


def _function(owner: str, target: Any, is_batched: bool) -> Callable[..., Any]:
    """Returns the function that filters a frame."""
    if not inspect.isclass(target):
        if not inspect.isfunction(target):
            raise InvalidArgument(f"{owner}: decorate a function or a class")
        function: Any = target
    else:
        function = getattr(target, "process", None)
        if not inspect.isfunction(function):
            raise InvalidArgument(f"{owner}: the class {target.__name__} has no method process")
        if is_batched:
            raise InvalidArgument(
                f"{owner}: decorate a function; a class is for one session, a batch for several"
            )
        required = [
            each
            for each in list(inspect.signature(target).parameters.values())
            if each.default is each.empty
            and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]
        if required:
            raise InvalidArgument(
                f"{owner}: __init__ has the argument {required[0].name}; it is called without any"
            )
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise InvalidArgument(f"{owner}: a coroutine or generator cannot filter frames")
    return function  # type: ignore[no-any-return]


def _hints(owner: str, function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (AttributeError, NameError, SyntaxError, TypeError) as error:
        raise InvalidArgument(f"{owner}: its annotations cannot be read: {error}") from error


def _arguments(
    owner: str,
    target: Any,
    function: Callable[..., Any],
    hints: Mapping[str, Any],
    is_batched: bool,
) -> tuple[Optional[str], list[Parameter]]:
    """Returns the name of the argument for metadata, and the parameters."""
    arguments = list(inspect.signature(function).parameters.values())
    if inspect.isclass(target):
        arguments = arguments[1:]
    for argument in arguments:
        if argument.kind not in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY):
            raise InvalidArgument(f"{owner}: the argument {argument} cannot be a parameter")
    if not arguments or arguments[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise InvalidArgument(f"{owner}: the function has no argument for the picture")
    context = None
    parameters: list[Parameter] = []
    for argument in arguments[1:]:
        hint = hints.get(argument.name, argument.empty)
        if hint is FrameContext or hint == list[FrameContext]:
            if (hint is FrameContext) is is_batched:
                expected = "list[FrameContext]" if is_batched else "FrameContext"
                raise InvalidArgument(f"{owner}: annotate {argument.name} with {expected}")
            context = argument.name
        else:
            parameters.append(parameter_of(owner, argument, hint))
    names = [each.description.name for each in parameters]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(f"{owner}: two parameters have the name {name}")
    return context, parameters


def _output(
    owner: str, size: Optional[tuple[int, int]], scale: Union[int, float, Fraction]
) -> filter_process_pb2.OutputSize:
    factor = finite(f"{owner}: scale", scale, 1 / 16, 16)
    if size is None:
        return filter_process_pb2.OutputSize(scale=factor if factor != 1 else 0)
    if factor != 1:
        raise InvalidArgument(f"{owner} has a size and a scale; state one of them")
    if not isinstance(size, tuple) or len(size) != 2:
        raise invalid(f"{owner}: size", size, "a width and a height")
    width, height = (integer(f"{owner}: size", each, 1, MAX_DIMENSION) for each in size)
    return filter_process_pb2.OutputSize(width=width, height=height)


def _seconds(field: str, wait: object) -> float:
    match = _DURATION.fullmatch(wait) if isinstance(wait, str) else None
    if match is None or float(match[1]) * _UNITS[match[2]] > 1:
        raise invalid(field, wait, 'a duration of at most "1s", such as "4ms"')
    return float(match[1]) * _UNITS[match[2]]


def _text(parameter: Parameter) -> str:
    """Returns a default as in the text of a pipeline."""
    value = parameter.value(parameter.description.default_value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "#" + "".join(f"{round(255 * each):02x}" for each in value[:3])
    return str(getattr(value, "value", value))
