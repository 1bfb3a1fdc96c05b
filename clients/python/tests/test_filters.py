"""The typed filters and the descriptions of the catalogue, compared with a server's."""

import inspect
import math
import re

import grpc
import pytest

from sidelight import filters, pipelines
from sidelight.catalogue import Fidelity, Filter, ParameterKind, Reach
from sidelight.errors import InvalidArgument
from sidelight.pipelines import RGBA, Pipeline, Point, Stage, height, px, width
from sidelight.v1 import frame_filter_pb2

# A pipeline may not enlarge frames beyond the server's limit, whatever the limits of `scale` are.
TOO_LARGE = "produces frames of"
# The other values that a call needs: drop-frame timecode exists at two rates only.
COMPANIONS = {"timecode(format='dropFrame')": {"rate": 29.97}}


def call(channel, name, request, response):
    method = channel.unary_unary(
        f"/sidelight.v1.FrameFilter/{name}",
        request_serializer=type(request).SerializeToString,
        response_deserializer=response.FromString,
    )
    return method(request, timeout=60)


@pytest.fixture(scope="module")
def channel(address):
    with grpc.insecure_channel(address) as channel:
        yield channel


@pytest.fixture(scope="module")
def catalogue(channel):
    request = frame_filter_pb2.ListFiltersRequest()
    answer = call(channel, "ListFilters", request, frame_filter_pb2.ListFiltersResponse)
    return {message.name: Filter.of(message) for message in answer.filters}


def named(build):
    """The parameters of a function, without a kernel's parameters."""
    every = inspect.signature(build).parameters.values()
    return [each for each in every if each.kind is not inspect.Parameter.VAR_KEYWORD]


@pytest.fixture(scope="module")
def builders(catalogue):
    """The functions by the name of the filter, for the filters that this server has."""
    functions = {}
    for name in filters.__all__:
        required = {
            parameter.name: "look.cube" if name == "color_cube" else "hat.png"
            for parameter in named(getattr(filters, name))
            if parameter.default is inspect.Parameter.empty
        }
        build = getattr(filters, name)
        stage = build(**required)
        functions[stage.content] = (build, required)
    return {name: functions[name] for name in catalogue}


@pytest.fixture(scope="module")
def check(channel):
    def check(stage):
        request = frame_filter_pb2.CheckPipelineRequest(pipeline=Pipeline([stage]).message())
        response = frame_filter_pb2.CheckPipelineResponse
        return call(channel, "CheckPipeline", request, response)

    return check


def values_of(parameter):
    """The extremes of a parameter, and one value per form that its type allows."""
    low, high = -1e6, 1e6
    if parameter.limits:
        low, high = parameter.limits.minimum, parameter.limits.maximum
    kind = parameter.kind
    if kind is ParameterKind.NUMBER:
        return [low, high]
    if kind is ParameterKind.LENGTH:
        return [low, high, width(0.01), height(0.01)]
    if kind is ParameterKind.POINT:
        return [Point(0, 0), Point(width(1), height(1)), Point(-5, 5.5)]
    if kind is ParameterKind.COLOR:
        return [RGBA(0, 0, 0), RGBA(1, 1, 1, 0.5)]
    if kind is ParameterKind.VECTOR:
        return [[low] * parameter.vector_length, [high] * parameter.vector_length]
    if kind is ParameterKind.FLAG:
        return [True, False]
    if kind is ParameterKind.CHOICE:
        return list(parameter.choices)
    if kind is ParameterKind.TEXT:
        # Also a valid kernel.
        return ["color"]
    assert kind is ParameterKind.ASSET
    return []


def test_every_filter_has_a_function(catalogue, builders):
    for name, (build, _) in builders.items():
        wire = [pipelines.wire_name(each.name) for each in named(build)]
        assert set(wire) == set(catalogue[name].parameters), name
        assert build.__doc__.startswith(catalogue[name].summary.split()[0]), name


def test_every_function_is_accepted_with_its_defaults(builders, check):
    for name, (build, required) in builders.items():
        answer = check(build(**required))
        assert Pipeline.of(answer.pipeline).stages[0].content == name


def test_every_function_is_accepted_with_extreme_values(catalogue, builders, check):
    accepted, refused = 0, []
    for name, (build, required) in builders.items():
        for keyword in (each.name for each in named(build)):
            parameter = catalogue[name].parameters[pipelines.wire_name(keyword)]
            for value in values_of(parameter):
                text = f"{name}({keyword}={value!r})"
                try:
                    check(build(**{**required, **COMPANIONS.get(text, {}), keyword: value}))
                    accepted += 1
                except grpc.RpcError as error:
                    if TOO_LARGE in error.details():
                        continue
                    refused.append(f"{text}: {error.details()}")
    assert not refused, "\n".join(refused)
    assert accepted > 2 * len(builders)


def beyond(parameter):
    """Values outside the limits of a parameter, next to them and far away."""
    low, high = parameter.limits.minimum, parameter.limits.maximum
    numbers = [low - 0.01, high + 0.01, math.inf, math.nan]
    if parameter.kind is ParameterKind.VECTOR:
        inside = [low] * (parameter.vector_length - 1)
        return [*([*inside, each] for each in numbers), inside, [*inside, low, low]]
    if parameter.kind is ParameterKind.COLOR:
        return [RGBA(low, low, each) for each in numbers]
    return [*numbers, px(high + 1)] if parameter.kind is ParameterKind.LENGTH else numbers


def test_values_beyond_the_limits_are_refused_when_the_stage_is_made(catalogue, builders):
    refused = 0
    for name, (build, required) in builders.items():
        for keyword in (each.name for each in named(build)):
            parameter = catalogue[name].parameters[pipelines.wire_name(keyword)]
            for value in beyond(parameter) if parameter.limits else ():
                with pytest.raises(InvalidArgument) as raised:
                    build(**{**required, keyword: value})
                assert raised.value.field.startswith(f"{name}.{parameter.name}"), value
                refused += 1
    assert refused > 5 * len(builders)


def test_the_error_of_a_value_names_the_limits():
    with pytest.raises(InvalidArgument) as raised:
        filters.sepia_tone(intensity=1000)
    message = "sepiaTone.intensity is 1000; it must be a finite number from -8 to 8"
    assert raised.value.message == message


def test_values_beyond_the_limits_are_refused_by_the_server(check):
    with pytest.raises(grpc.RpcError) as raised:
        check(Stage("sepiaTone", {"intensity": 1000}))
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "intensity" in raised.value.details()


def test_parameters_are_keywords():
    with pytest.raises(TypeError):
        filters.sepia_tone(0.5)  # type: ignore[misc]
    assert filters.sepia_tone() == Stage("sepiaTone", {"intensity": None})
    assert not filters.sepia_tone().message().filter.parameters


def test_descriptions_are_complete(catalogue):
    for name, each in catalogue.items():
        assert each.summary and each.category and re.fullmatch(r"[a-z]\w+", name)
        assert each.reach is not Reach.UNKNOWN and each.fidelity is not Fidelity.UNKNOWN
        for parameter in each.parameters.values():
            assert parameter.kind is not ParameterKind.UNKNOWN
            assert (parameter.kind is ParameterKind.CHOICE) == bool(parameter.choices)
            assert (parameter.kind is ParameterKind.VECTOR) == bool(parameter.vector_length)
    assert catalogue["colorCube"].parameters["asset"].is_required
    intensity = catalogue["sepiaTone"].parameters["intensity"]
    assert intensity.default == 1 and not intensity.is_required
