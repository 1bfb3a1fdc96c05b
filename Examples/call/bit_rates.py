"""The codec of the call, VP8, and its bit rates in both directions.

A browser estimates the bandwidth from the delays of its packets. On a busy machine it takes delays
of the processor for congestion, and lowers the frame rate. A call on known networks therefore names
a lower limit.
"""

from __future__ import annotations

from aiortc import RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.codecs import vpx

_CODECS = [
    codec
    for codec in RTCRtpSender.getCapabilities("video").codecs
    if codec.mimeType in ("video/VP8", "video/rtx")
]


def pin(bits_per_second: int) -> None:
    """Sets the bit rate of all encoders of this process. aiortc has no setting for it."""
    vpx.DEFAULT_BITRATE = bits_per_second
    vpx.MIN_BITRATE = bits_per_second // 2
    vpx.MAX_BITRATE = 2 * bits_per_second


async def answer(
    connection: RTCPeerConnection, offer: RTCSessionDescription, bits_per_second: int
) -> str:
    """Returns the answer to an offer that was set, with VP8 and the sender's bit rate.

    Raises `ValueError` if the connections have no codec in common.
    """
    for transceiver in connection.getTransceivers():
        transceiver.setCodecPreferences(_CODECS)
    await connection.setLocalDescription(await connection.createAnswer())
    kilobits = bits_per_second // 1000
    limits = f"x-google-start-bitrate={kilobits};x-google-min-bitrate={kilobits}"
    lines = []
    for line in connection.localDescription.sdp.splitlines():
        lines.append(line)
        if line.startswith("a=rtpmap:") and line.endswith(" VP8/90000"):
            payload_type = line.partition(":")[2].split()[0]
            lines.append(f"a=fmtp:{payload_type} {limits}")
    return "\r\n".join(lines) + "\r\n"
