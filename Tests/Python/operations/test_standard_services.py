"""Health and reflection, used by gRPC's clients for them."""

import threading

import grpc
import pytest
from google.protobuf import descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from sidelight_testing.server import Server

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
SERVICES = ["sidelight.v1.FrameFilter", "sidelight.v1.Assets", "sidelight.v1.Sessions"]


@pytest.fixture(scope="module")
def channel(server):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        yield channel


@pytest.fixture(scope="module")
def health(channel):
    return health_pb2_grpc.HealthStub(channel)


@pytest.fixture(scope="module")
def reflected(channel):
    """The contract as reflection describes it."""
    return ProtoReflectionDescriptorDatabase(channel)


def ask(service: str):
    return health_pb2.HealthCheckRequest(service=service)


@pytest.mark.parametrize("service", ["", *SERVICES])
def test_each_service_and_the_server_as_a_whole_serve(health, service):
    assert health.Check(ask(service), timeout=60).status == SERVING


def test_an_unknown_service_is_not_found(health):
    with pytest.raises(grpc.RpcError) as caught:
        health.Check(ask("no.such.Service"), timeout=60)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    assert "no.such.Service" in caught.value.details()


def test_watch_sends_the_status_at_once(health):
    for service, expected in [("", SERVING), ("no.such.Service", SERVICE_UNKNOWN)]:
        call = health.Watch(ask(service), timeout=60)
        assert next(call).status == expected
        call.cancel()
        with pytest.raises(grpc.RpcError):
            next(call)


def test_watch_reports_a_shutdown_and_ends():
    with Server() as server, grpc.insecure_channel(server.addresses["tcp"]) as channel:
        calls = [health_pb2_grpc.HealthStub(channel).Watch(ask(each)) for each in ["", *SERVICES]]
        for call in calls:
            assert next(call).status == SERVING
        stopped = threading.Thread(target=server.terminate)
        stopped.start()
        for call in calls:
            assert next(call).status == NOT_SERVING
            with pytest.raises(grpc.RpcError) as caught:
                next(call)
            assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        stopped.join()
        assert server.process.returncode == 0, server.log


def test_the_services_are_listed(reflected):
    listed = set(reflected.get_services())
    assert listed == {
        *SERVICES,
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        "xds.service.orca.v3.OpenRcaService",
    }


def test_a_reflection_client_calls_every_method(channel, reflected):
    pool = descriptor_pool.DescriptorPool(reflected)
    service = pool.FindServiceByName("sidelight.v1.FrameFilter")
    method = service.methods_by_name["DescribeFilter"]
    request_type = message_factory.GetMessageClass(method.input_type)
    call = channel.unary_unary(
        f"/{service.full_name}/{method.name}",
        request_serializer=request_type.SerializeToString,
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    assert call(request_type(name="sepiaTone"), timeout=60).filter.name == "sepiaTone"
    for name in reflected.get_services():
        for each in pool.FindServiceByName(name).methods:
            message_factory.GetMessageClass(each.input_type)()
            message_factory.GetMessageClass(each.output_type)()


def test_the_load_is_reported_repeatedly(channel, reflected):
    pool = descriptor_pool.DescriptorPool(reflected)
    service = pool.FindServiceByName("xds.service.orca.v3.OpenRcaService")
    method = service.methods_by_name["StreamCoreMetrics"]
    request = message_factory.GetMessageClass(method.input_type)()
    request.report_interval.FromMilliseconds(1)
    call = channel.unary_stream(
        f"/{service.full_name}/{method.name}",
        request_serializer=type(request).SerializeToString,
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )(request, timeout=60)
    for _ in range(2):
        report = next(call)
        # Envoy's weights are the quotient.
        assert report.application_utilization >= 0.05 and report.rps_fractional == 1000
    call.cancel()


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_answers_under_both_its_names(channel, version):
    # The messages are the same; the package for Python knows the older name.
    call = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    (answer,) = call(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=60)
    assert SERVICES[0] in [each.name for each in answer.list_services_response.service]


def test_health_lists_every_service(channel):
    call = channel.unary_unary(
        "/grpc.health.v1.Health/List", request_serializer=bytes, response_deserializer=bytes
    )
    answer = call(b"", timeout=60)
    assert all(name.encode() in answer for name in SERVICES)


@pytest.mark.parametrize(
    "symbol",
    [
        "sidelight.v1.FrameFilter.Process",
        "sidelight.v1.Update.StageParameters",
        "sidelight.v1.Frame.sequence",
        "sidelight.v1.PixelFormat",
        "sidelight.v1.PIXEL_FORMAT_NV12",
        "google.protobuf.Duration",
        "google.rpc.Status",
    ],
)
def test_symbols_of_every_kind_are_found(reflected, symbol):
    assert reflected.FindFileContainingSymbol(symbol).name


def test_an_unknown_symbol_is_answered_and_the_call_continues(channel):
    Request = reflection_pb2.ServerReflectionRequest
    questions = [
        Request(file_containing_symbol="no.such.Thing"),
        Request(file_by_filename="no/such.proto"),
        Request(),
        Request(all_extension_numbers_of_type="sidelight.v1.Frame"),
        Request(list_services=""),
    ]
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    answers = list(stub.ServerReflectionInfo(iter(questions), timeout=60))
    not_found = grpc.StatusCode.NOT_FOUND.value[0]
    invalid = grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert [each.error_response.error_code for each in answers] == [
        not_found, not_found, invalid, 0, 0,
    ]
    assert len(answers[4].list_services_response.service) == 7
