"""Encoded video in and out, with a real server and PyAV's encoders."""

import io
import threading

import pytest

pytest.importorskip("av")

import av
from support.encoded_videos import HEIGHT, WIDTH, Encoder, difference, picture
from support.scripted_server import ScriptedServer
from support.videos import inverted

import sidelight.av
from sidelight import (
    Dropped,
    DropReason,
    DropStage,
    EncodedImage,
    EncoderOptions,
    EncoderTarget,
    Filtered,
    KeyFrameNeeded,
    KeyFrameReason,
    Output,
    PassedThrough,
    Reconnected,
    Rejected,
    Stage,
)
from sidelight._core.references import WAITING_LIMIT
from sidelight.errors import InvalidArgument
from sidelight.v1 import session_pb2

INVERT = Stage("colorInvert")
CODECS = ["h264", "vp8", "vp9"]
LIMIT = 60
#: More than the loss of two encoders, and far less than the difference of other pictures.
CLOSE = 6


@pytest.fixture(autouse=True)
def _needs_codecs(running_server):
    with sidelight.connect(running_server.unix) as server:
        if not any(each.decodes for each in server.info().codecs):
            pytest.skip("the server was built without Codecs")


class Requests:
    """The requests for key frames of a session, for tests that wait for one."""

    def __init__(self, session):
        self._changed = threading.Condition()
        self.all = []
        session.on_event(self._add)

    def _add(self, event):
        with self._changed:
            self.all.append(event)
            self._changed.notify_all()

    def wait_for(self, kind):
        with self._changed:
            found = self._changed.wait_for(
                lambda: next((each for each in self.all if isinstance(each, kind)), None), LIMIT
            )
        assert found, self.all
        return found


def filtered(session, frame):
    outcome = session.filter(frame, timeout=LIMIT)
    assert isinstance(outcome, Filtered), (outcome, getattr(outcome, "error", None))
    return outcome


@pytest.mark.parametrize("codec", CODECS)
def test_a_stream_comes_back_filtered_in_its_codec(server, codec):
    encoder, decoder = Encoder(codec), sidelight.av.Decoder()
    with server.session(INVERT) as session:
        for index in range(12):
            outcome = filtered(session, encoder.frame())
            image = outcome.image
            assert isinstance(image, EncodedImage) and image.format.value == codec
            assert (image.width, image.height) == (WIDTH, HEIGHT)
            assert image.is_key_frame is (index == 0)
            assert outcome.frame.capture_time_ns == round(index / 30 * 1e9)
            assert difference(inverted(picture(index)), decoder.decode(image)) < CLOSE


def test_av1_is_answered_with_vp8(server):
    encoder, decoder = Encoder("av1"), sidelight.av.Decoder()
    with server.session(INVERT) as session:
        for index in range(5):
            image = filtered(session, encoder.frame()).image
            assert image.format.value == "vp8"
            assert difference(inverted(picture(index)), decoder.decode(image)) < CLOSE


@pytest.mark.parametrize("codec", CODECS)
def test_raw_pictures_are_encoded(server, codec):
    decoder = sidelight.av.Decoder()
    encoder = EncoderOptions(bit_rate=600_000, key_frame_interval=4, effort="balanced")
    with server.session(INVERT, output=Output(format=codec, encoder=encoder)) as session:
        keys = []
        for index in range(9):
            image = filtered(session, picture(index)).image
            keys.append(image.is_key_frame)
            assert difference(inverted(picture(index)), decoder.decode(image)) < CLOSE
        assert keys == [index % 4 == 0 for index in range(9)]


@pytest.mark.parametrize("codec", CODECS)
def test_encoded_frames_can_come_back_raw(server, codec):
    encoder = Encoder(codec)
    with server.session(INVERT, output=Output(format="i420")) as session:
        for index in range(3):
            image = filtered(session, encoder.frame()).image
            assert image.format.value == "i420"
            video = sidelight.av.video_frame(image)
            assert difference(inverted(picture(index)), video) < CLOSE


def test_packets_of_a_file_are_sent_as_they_are(server):
    file = io.BytesIO()
    encoder = Encoder("vp8")
    with av.open(file, "w", format="webm") as container:
        stream = container.add_stream("libvpx", rate=30)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for _ in range(6):
            packet = encoder.packet()
            packet.stream = stream
            container.mux(packet)
    file.seek(0)
    output = Output(format="vp8")
    copied = io.BytesIO()
    with av.open(file) as source, server.session(
        INVERT, drop_policy="never_drop", output=output
    ) as session, av.open(copied, "w", format="webm") as target:
        stream = target.add_stream("libvpx", rate=30)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        packets = [each for each in source.demux(video=0) if each.size]
        for outcome in session.filter_all(packets):
            assert isinstance(outcome, Filtered)
            result = sidelight.av.packet(
                outcome.image, capture_time_ns=outcome.frame.capture_time_ns
            )
            result.stream = stream
            target.mux(result)
    copied.seek(0)
    with av.open(copied) as result:
        pictures = list(result.decode(video=0))
    assert len(pictures) == 6
    for index, each in enumerate(pictures):
        assert difference(inverted(picture(index)), each) < CLOSE


def test_packets_that_cannot_be_sent_say_why(server):
    encoder = Encoder("h264")
    packet = encoder.packet()
    with server.session(INVERT) as session:
        with pytest.raises(InvalidArgument, match="encoded_frame"):
            session.send(packet)
        with pytest.raises(InvalidArgument, match="h264_mp4toannexb"):
            sidelight.av.encoded_frame(av.Packet(b"\0\0\1\0" + bytes(20)), "h264")
        with pytest.raises(InvalidArgument, match="one of"):
            sidelight.av.encoded_frame(packet, "mpeg4")
        with pytest.raises(InvalidArgument, match="EncodedImage"):
            sidelight.av.Decoder().decode(picture(0))
        with pytest.raises(InvalidArgument, match="EncodedImage"):
            sidelight.av.packet(picture(0))
        assert filtered(session, sidelight.av.encoded_frame(packet, "h264"))


def test_an_unchanged_stream_comes_back_as_it_was_sent(server):
    encoder = Encoder("vp8")
    with server.session() as session:
        for _ in range(4):
            frame = encoder.frame()
            outcome = session.filter(frame, timeout=LIMIT)
            assert isinstance(outcome, PassedThrough)
            assert outcome.image.bytes() == frame.image.bytes()


def test_the_encoder_of_results_is_changed_and_asked_for_key_frames(server):
    output = Output(format="vp8", encoder=EncoderOptions(bit_rate=400_000))
    decoder = sidelight.av.Decoder()
    with server.session(INVERT, output=output) as session:
        decoder.decode(filtered(session, picture(0)).image)
        assert not filtered(session, picture(1)).image.is_key_frame
        session.set_encoder(bit_rate=200_000, frame_rate=15, width=WIDTH // 2, height=HEIGHT // 2)
        image = filtered(session, picture(2)).image
        assert image.is_key_frame and (image.width, image.height) == (WIDTH // 2, HEIGHT // 2)
        session.request_key_frame()
        # At the earliest half a second after the last one.
        for index in range(3, 10_000):
            if filtered(session, picture(index)).image.is_key_frame:
                break
        else:
            pytest.fail("no key frame came")


def test_a_change_of_the_encoder_that_is_refused_is_an_event(server):
    with server.session(INVERT, output=Output(format="vp8")) as session:
        requests = Requests(session)
        filtered(session, picture(0))
        session.set_encoder(width=16384, height=16384)
        assert requests.wait_for(Rejected).request_id == 0
        for arguments in ({"bit_rate": 1}, {"frame_rate": 500}, {"width": 0}, {"height": 1 << 20}):
            with pytest.raises(InvalidArgument) as raised:
                session.set_encoder(**arguments)
            assert raised.value.field == next(iter(arguments))


def test_raw_and_encoded_frames_are_mixed_in_one_session(server):
    encoder, count = Encoder("vp8"), 0
    with server.session(INVERT) as session:
        for index in range(9):
            if index % 3 == 2:
                image = filtered(session, picture(index)).image
                assert image.format.value == "i420"
            else:
                image = filtered(session, encoder.frame()).image
                assert image.format.value == "vp8"
                count += 1
        assert count == 6


def test_a_raw_frame_that_was_replaced_is_no_loss(server):
    encoder = Encoder("vp8")
    with server.session(INVERT, frames_in_flight=1) as session:
        requests = Requests(session)
        session.send(encoder.frame())
        session.send(picture(0))
        session.send(encoder.frame())
        session.finish()
        outcomes = list(session.outcomes())
        reasons = [getattr(each, "reason", None) for each in outcomes]
        # The raw frame was replaced unless the first outcome was there before it was sent.
        assert reasons in ([None, DropReason.SUPERSEDED, None], [None, None, None])
        assert not [each for each in requests.all if isinstance(each, KeyFrameNeeded)]


@pytest.mark.parametrize("codec", CODECS)
def test_a_sender_that_is_too_fast_is_asked_for_a_key_frame_and_nothing_is_damaged(server, codec):
    encoder = Encoder(codec)
    output = Output(format="i420")
    with server.session(INVERT, frames_in_flight=1, output=output) as session:
        requests = Requests(session)
        # Nobody takes outcomes, so one frame is in flight and the others wait.
        for _ in range(WAITING_LIMIT + 5):
            session.send(encoder.frame())
        needed = requests.wait_for(KeyFrameNeeded)
        assert needed.reason is KeyFrameReason.DROPPED
        session.send(encoder.frame(is_key_frame=True))
        session.send(encoder.frame())
        session.finish()
        outcomes = list(session.outcomes())
    count = WAITING_LIMIT + 7
    assert [each.sequence for each in outcomes] == list(range(1, count + 1))
    dropped = [each for each in outcomes if isinstance(each, Dropped)]
    assert {each.stage for each in dropped} == {DropStage.CLIENT}
    assert {each.reason for each in dropped} == {
        DropReason.SUPERSEDED,
        DropReason.NOT_DECODABLE,
    }
    shown = [each for each in outcomes if isinstance(each, Filtered)]
    assert [each.sequence for each in shown][-2:] == [count - 1, count]
    for outcome in shown:
        video = sidelight.av.video_frame(outcome.image)
        assert difference(inverted(picture(outcome.sequence - 1)), video) < CLOSE


@pytest.mark.parametrize("codec", CODECS)
def test_a_damaged_frame_is_not_shown_and_neither_are_those_after_it(server, codec):
    encoder = Encoder(codec)
    with server.session(INVERT) as session:
        requests = Requests(session)
        filtered(session, encoder.frame())
        whole = encoder.frame().image
        damaged = EncodedImage(codec, whole.bytes()[: 8 if codec == "h264" else 2])
        outcome = session.filter(damaged, timeout=LIMIT)
        assert outcome.reason is DropReason.INVALID_FRAME and outcome.error.field
        outcome = session.filter(encoder.frame(), timeout=LIMIT)
        assert outcome.reason is DropReason.NOT_DECODABLE
        assert requests.wait_for(KeyFrameNeeded).reason is KeyFrameReason.DAMAGE
        assert filtered(session, encoder.frame(is_key_frame=True))
        assert filtered(session, encoder.frame())


def test_a_stream_that_begins_in_the_middle_waits_for_a_key_frame(server):
    encoder = Encoder("vp8")
    encoder.frame()
    with server.session(INVERT) as session:
        requests = Requests(session)
        outcome = session.filter(encoder.frame(), timeout=LIMIT)
        assert (outcome.reason, outcome.stage) == (DropReason.NOT_DECODABLE, DropStage.CLIENT)
        assert requests.wait_for(KeyFrameNeeded) == (1, KeyFrameReason.START)
        assert filtered(session, encoder.frame(is_key_frame=True))


def test_b_frames_are_refused_with_a_reason(server):
    encoder = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, "yuv420p"
    encoder.time_base = sidelight.av.Fraction(1, 30)
    encoder.options = {"bf": "2", "b_strategy": "0", "g": "100"}
    packets = []
    for index in range(8):
        video = sidelight.av.video_frame(picture(index))
        video.pts = index
        packets += encoder.encode(video)
    packets += encoder.encode(None)
    with server.session(INVERT, drop_policy="never_drop") as session:
        frames = [sidelight.av.encoded_frame(each, "h264") for each in packets]
        errors = [each.error for each in session.filter_all(frames) if isinstance(each, Dropped)]
    assert any("B-frame" in str(each) for each in errors), errors


def test_a_server_without_the_codec_is_named(face):
    message = "this build lacks VP8: build Sidelight with the trait Codecs"
    dropped = session_pb2.Dropped(first_sequence=1, last_sequence=1, count=1, reason=9, stage=1)
    dropped.diagnostic.code, dropped.diagnostic.message = 12, message
    opened = session_pb2.Opened(session_id="s", frames_in_flight=1)
    answers = [session_pb2.ServerMessage(opened=opened).SerializeToString()]
    later = [session_pb2.ServerMessage(dropped=dropped).SerializeToString()]
    with ScriptedServer(answers, after_frame=later) as scripted:
        with face.connect(scripted.address) as server, server.session() as session:
            outcome = session.filter(Encoder("vp8").frame(), timeout=LIMIT)
            assert outcome.reason is DropReason.INVALID_FRAME
            assert outcome.error.code == "UNIMPLEMENTED" and outcome.error.message == message


def test_a_server_tells_its_codecs(server):
    codecs = {each.format.value: each for each in server.info().codecs}
    assert set(codecs) == {"h264", "vp8", "vp9", "av1"}
    assert codecs["vp8"].decodes and codecs["vp8"].encodes and "libvpx" in codecs["vp8"].library
    assert not codecs["av1"].encodes


def test_a_session_continues_with_a_key_frame_after_a_cut(face, restartable):
    encoder, decoder = Encoder("vp8"), sidelight.av.Decoder()
    with face.connect(restartable.address) as server, server.session(INVERT) as session:
        requests = Requests(session)
        for _ in range(3):
            decoder.decode(filtered(session, encoder.frame()).image)
        restartable.kill()
        restartable.start()
        requests.wait_for(Reconnected)
        needed = requests.wait_for(KeyFrameNeeded)
        assert needed.reason is KeyFrameReason.START
        outcome = session.filter(encoder.frame(), timeout=LIMIT)
        assert outcome.reason in (DropReason.NOT_DECODABLE, DropReason.DISCONNECTED)
        image = filtered(session, encoder.frame(is_key_frame=True)).image
        assert image.is_key_frame
        assert difference(inverted(picture(4)), decoder.decode(image)) < CLOSE


def test_a_programs_encoder_is_told_its_values(server):
    encoder = Encoder("vp8")
    target = EncoderTarget(600_000, WIDTH, HEIGHT, 30)
    with server.session(INVERT) as session:
        requests = Requests(session)
        session.adapt_encoder(target)
        assert requests.wait_for(EncoderTarget) == target == session.encoder_target
        for _ in range(10):
            assert session.may_encode()
            filtered(session, encoder.frame())
        for wrong in (target._replace(bit_rate=1), target._replace(frame_rate=0)):
            with pytest.raises(InvalidArgument, match=r"target\."):
                session.adapt_encoder(wrong)
