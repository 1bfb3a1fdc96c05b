"""An RTSP server for tests, whose H.264 in RTP comes from ffmpeg."""

import socket
import subprocess
import threading
from typing import Self

FRAMES_PER_SECOND = 25
SIZE = (320, 180)

_SDP = """v=0
o=- 0 0 IN IP4 127.0.0.1
s=test
c=IN IP4 127.0.0.1
t=0 0
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1
a=control:video
"""
# Packet types of RTCP, which ffmpeg sends to the same port.
_RTCP = range(200, 205)


class RTSPServer:
    """Sends a test picture to every player, interleaved with the RTSP connection."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.url = f"rtsp://user:secret@127.0.0.1:{self._listener.getsockname()[1]}/camera"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            connection.close()
        for thread in self._threads:
            thread.join()

    def _start(self, target, *arguments) -> None:
        thread = threading.Thread(target=target, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            try:
                while line := reader.readline():
                    if line[:1] == b"$":
                        # A report of the receiver: channel and length, then the packet.
                        head = (line + reader.read(4))[:4]
                        rest = int.from_bytes(head[2:4]) - (len(line) - 4)
                        reader.read(max(0, rest - 4))
                        continue
                    method = line.split()[0].decode()
                    headers = {}
                    while (header := reader.readline()) not in (b"\r\n", b""):
                        name, _, value = header.decode().partition(":")
                        headers[name.lower()] = value.strip()
                    self._answer(connection, method, headers["cseq"])
                    if method == "PLAY":
                        return self._play(connection)
            except OSError:
                return

    def _answer(self, connection: socket.socket, method: str, number: str) -> None:
        extra, body = "", ""
        match method:
            case "OPTIONS":
                extra = "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
            case "DESCRIBE":
                body = _SDP.replace("\n", "\r\n")
                extra = f"Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n"
            case "SETUP":
                extra = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
        answer = f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\n{extra}\r\n{body}"
        connection.sendall(answer.encode())

    def _play(self, connection: socket.socket) -> None:
        """Sends the packets until the player leaves."""
        width, height = SIZE
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
            packets.bind(("127.0.0.1", 0))
            port = packets.getsockname()[1]
            source = f"testsrc2=size={width}x{height}:rate={FRAMES_PER_SECOND}"
            sender = subprocess.Popen(
                [
                    *("ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi"),
                    *("-i", source, "-c:v", "libx264", "-preset", "ultrafast", "-bf", "0"),
                    *("-g", "10", "-pix_fmt", "yuv420p", "-x264-params", "repeat-headers=1"),
                    *("-f", "rtp", f"rtp://127.0.0.1:{port}?rtcpport={port}&pkt_size=1400"),
                ],
                stdout=subprocess.DEVNULL,
            )
            try:
                while packet := packets.recv(2048):
                    if packet[1] not in _RTCP:
                        connection.sendall(b"$\0" + len(packet).to_bytes(2) + packet)
            finally:
                sender.kill()
                sender.wait()
