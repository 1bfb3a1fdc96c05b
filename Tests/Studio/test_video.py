"""Frames and results as encoded video, with the browser's WebCodecs."""

import subprocess
from pathlib import Path

import pytest

# Saturated colours come back with their chroma at half the resolution.
LEAST_PSNR = 30
# The size of a camera's frames as JPEG, in frames of video.
LEAST_SAVING = 4

VALUE = "(id) => Number(document.getElementById(id).dataset.value)"
DROPPED = """(reason) => document.querySelector(`#drop-counts [data-reason="${reason}"]`)"""
PIXELS = """() => {
    const { width, height } = document.querySelector("#picture");
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(document.querySelector("#picture"), 0, 0);
    return context.getImageData(0, 0, width, height).data;
}"""
# The green of the middle bar, minus its red.
GREEN = f"() => {{ const p = ({PIXELS})(), at = 4 * (20 * 640 + 320); return p[at + 1] - p[at]; }}"
# The peak signal-to-noise ratio of the picture to `window.reference`, in dB.
PSNR = f"""() => {{
    const pixels = ({PIXELS})();
    let sum = 0;
    for (const [index, value] of pixels.entries()) sum += (value - window.reference[index]) ** 2;
    return 10 * Math.log10(255 ** 2 * pixels.length / (sum || 1));
}}"""
# Loses the next frame of video that others depend on, in front of the socket.
LOSE_A_FRAME = """async () => {
    const { decode } = await import("/sidelight/codec.js");
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) {
        const { frame } = typeof data === "string" ? {}
            : decode("sidelight.v1.ClientMessage", data);
        if (frame?.image.format !== "VP8" || frame.image.encoded.keyFrame) {
            return send.call(this, data);
        }
        WebSocket.prototype.send = send;
        window.lost = frame.sequence;
    };
}"""
# Passes the next chunk to the decoder damaged, or all of them.
DAMAGE = """(all) => {
    const decode = VideoDecoder.prototype.decode;
    VideoDecoder.prototype.decode = function ({ type, timestamp }) {
        if (!all) VideoDecoder.prototype.decode = decode;
        const data = new Uint8Array(40).fill(255);
        decode.call(this, new EncodedVideoChunk({ type, timestamp, data }));
    };
}"""


def value(page, name: str) -> float:
    return page.run(VALUE, name)


def test_the_camera_is_encoded_and_needs_far_fewer_bytes_than_jpeg(page):
    def bytes_per_frame(direction: str) -> float:
        return page.until(
            f"""(id) => {{
                const [rate, fps] = [id, "fps"].map({VALUE});
                return fps > 0 && rate * 1000 / fps;
            }}""",
            f"{direction}-rate",
        )

    assert page.run("() => document.querySelector('#video').value") == "VP8"
    page.use_camera("colorInvert")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200 && c.gray[0] < 90")
    assert value(page, "key-frames-sent") >= 1
    assert value(page, "key-frames-received") >= 1
    # The figures are of two seconds, and the camera has come after the portrait.
    page.until(f"""() => ({VALUE})("sent-rate") > 0""")
    encoded = {each: bytes_per_frame(each) for each in ("sent", "received")}

    page.enter("#video", "")
    for direction, size in encoded.items():
        page.until(
            f"""(id, least) => ({VALUE})(id) * 1000 / ({VALUE})("fps") > least""",
            f"{direction}-rate", LEAST_SAVING * size,
        )
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200 && c.gray[0] < 90")


# Frames that pass through have the colours of the browser's encoder, others the server's.
@pytest.mark.parametrize("pipeline", ["sepiaTone(intensity: 0.3)", ""])
@pytest.mark.parametrize("codec", ["VP8", "H264"])
def test_the_picture_equals_the_one_of_jpeg_frames(
    page, tmp_path: Path, codec: str, pipeline: str
):
    file = tmp_path / "bars.png"
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "smptehdbars=s=640x360",
         "-frames:v", "1", file],
        check=True, timeout=60,
    )
    page.choose_still(file)
    for video in ("", codec):
        before = value(page, "key-frames-sent")
        page.enter("#video", video)
        if video:
            page.until(f"""(before) => ({VALUE})("key-frames-sent") > before""", before)
        # Another picture first, so the next one is not from before.
        page.enter_text("colorInvert")
        page.until(f"() => ({GREEN})() < -60")
        page.enter_text(pipeline)
        page.until(f"() => ({GREEN})() > 60")
        if not video:
            page.run(f"() => {{ window.reference = ({PIXELS})(); }}")
    page.until(f"(least) => ({PSNR})() > least", LEAST_PSNR)


def test_a_lost_frame_is_followed_by_a_key_frame(page):
    page.use_camera("colorInvert")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
    before = value(page, "key-frames-sent")
    page.run(LOSE_A_FRAME)
    page.until(DROPPED, "NOT_DECODABLE")
    page.until(f"""(before) => ({VALUE})("key-frames-sent") > before""", before)
    page.enter_text("")
    page.wait_for_picture("c.red[0] > 200 && c.red[1] < 60")


def test_a_damaged_result_is_followed_by_a_key_frame(page):
    page.use_camera("colorInvert")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
    before = value(page, "key-frames-received")
    page.run(DAMAGE, False)
    page.until(f"""(before) => ({VALUE})("key-frames-received") > before""", before)
    page.enter_text("")
    page.wait_for_picture("c.red[0] > 200 && c.red[1] < 60")
    assert page.run("() => document.querySelector('#video').value") == "VP8"


def test_results_that_cannot_be_decoded_come_back_as_jpeg(page):
    page.use_camera("colorInvert")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
    page.run(DAMAGE, True)
    page.until("() => document.querySelector('#video').value === ''")
    assert "cannot decode the results" in page.text("#video-hint")
    page.enter_text("")
    page.wait_for_picture("c.red[0] > 200 && c.red[1] < 60")


def test_a_browser_without_webcodecs_sends_jpeg_and_says_so(open_page):
    page = open_page(before="delete window.VideoEncoder;")
    page.wait_until_ready()
    assert page.run("() => document.querySelector('#video').value") == ""
    assert page.run(
        "() => [...document.querySelectorAll('#video option')].map((each) => each.disabled)"
    ) == [True, True, False]
    assert "this browser cannot encode video" in page.text("#video-hint")
    page.use_camera("colorInvert")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
    assert value(page, "sent-rate") > 0
    assert value(page, "key-frames-sent") == 0
