"""Filters a video like filter_video.py, through a server on the same host: pixels in shared memory.

    sidelight serve --shared-memory &
    ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - |
      python filter_video_shared.py 127.0.0.1:50051 'sepiaTone(intensity: 0.8)' |
      ffmpeg -i - out.mp4

Messages only name the slot of a ring that holds a picture; docs/guides/shared-memory.md describes when the
client and the server own a slot. Generate the modules below `sidelight.v1` as in filter_video.py.
"""

import fcntl
import mmap
import os
import queue
import socket
import sys

import grpc
from sidelight.v1 import frame_filter_pb2, frame_filter_pb2_grpc, image_pb2, session_pb2

SEALED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class Ring:
    """The slots that the session shares with the server: input slots, then output slots."""

    def __init__(self, opened):
        offer = opened.shared_memory
        name = opened.session_id.encode()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(offer.socket_path)
            connection.sendall(b"\x01" + offer.token + bytes([len(name)]) + name)
            answer, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        if answer != b"\x00" or not descriptors:
            raise ConnectionError(f"the server refuses the ring: {answer!r}")
        (descriptor,) = descriptors
        self.slot_bytes = offer.slot_bytes
        size = offer.slot_bytes * (offer.input_slots + offer.output_slots)
        try:
            # Reading beyond the end of memory that shrinks would end this process.
            if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & SEALED != SEALED:
                raise ConnectionError("the ring is not sealed")
            self._memory = memoryview(mmap.mmap(descriptor, size))
        finally:
            os.close(descriptor)

    def slot(self, index, length):
        """Returns the first bytes of a slot, to read or write in place."""
        start = index * self.slot_bytes
        return self._memory[start : start + length]


def frames(video, ring, width, height, size, free):
    """Yields the images of a Y4M video, `size` bytes each; needs a free slot for each."""
    while video.readline().startswith(b"FRAME"):
        slot = free.pop()
        if video.readinto(ring.slot(slot, size)) < size:
            sys.exit("The video ends in the middle of a frame.")
        yield image_pb2.Image(
            format=image_pb2.PIXEL_FORMAT_I420,
            width=width,
            height=height,
            shared_memory=image_pb2.SharedMemorySlot(slot=slot, length=size),
        )


def main(address, text):
    video, result = sys.stdin.buffer, sys.stdout.buffer
    header = video.readline()
    tags = {field[:1]: field[1:] for field in header.split()[1:]}
    if not header.startswith(b"YUV4MPEG2 ") or not tags.get(b"C", b"420").startswith(b"420"):
        sys.exit("The input is not a Y4M video in 4:2:0; use -pix_fmt yuv420p with ffmpeg.")
    width, height = int(tags[b"W"]), int(tags[b"H"])
    size = width * height + 2 * ((width + 1) // 2 * ((height + 1) // 2))

    with grpc.insecure_channel(address) as channel:
        server = frame_filter_pb2_grpc.FrameFilterStub(channel)
        pipeline = server.CheckPipeline(frame_filter_pb2.CheckPipelineRequest(text=text)).pipeline
        requests = queue.SimpleQueue()
        answers = server.Process(iter(requests.get, None))

        def send(**kind):
            requests.put(session_pb2.ClientMessage(**kind))

        send(
            open=session_pb2.Open(
                pipeline=pipeline,
                drop_policy=session_pb2.DROP_POLICY_NEVER_DROP,
                shared_memory=session_pb2.SharedMemoryRequest(slot_bytes=size),
            )
        )
        opened = next(answers).opened
        if not opened.HasField("shared_memory"):
            sys.exit(f"no shared memory: {opened.shared_memory_refusal.message}")
        ring = Ring(opened)
        free = list(range(opened.shared_memory.input_slots))
        images = frames(video, ring, width, height, size, free)
        in_flight = {}
        sequence = 0
        ended = False

        result.write(header)
        while True:
            if not ended and free and len(in_flight) < opened.frames_in_flight:
                if image := next(images, None):
                    sequence += 1
                    in_flight[sequence] = image.shared_memory.slot
                    send(frame=session_pb2.Frame(sequence=sequence, image=image))
                else:
                    ended = True
                    requests.put(None)
                continue
            message = next(answers, None)
            if message is None:
                break
            match message.WhichOneof("kind"):
                case "frame":
                    # The outcome returns the input slot, and names an output slot.
                    free.append(in_flight.pop(message.frame.sequence))
                    image = message.frame.image
                    if image.WhichOneof("pixels") == "shared_memory":
                        pixels = ring.slot(image.shared_memory.slot, image.shared_memory.length)
                    else:
                        pixels = image.inline
                    result.write(b"FRAME\n")
                    result.write(pixels)
                    # The picture is written: return its output slot to the server.
                    if not ended:
                        send(ack=session_pb2.Ack(sequence=message.frame.sequence))
                case "dropped":
                    dropped = message.dropped
                    for lost in range(dropped.first_sequence, dropped.last_sequence + 1):
                        free.append(in_flight.pop(lost))
                    print(f"dropped: {dropped}", file=sys.stderr)
                case "stats":
                    print(f"{message.stats.filtered} frames filtered", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: filter_video_shared.py ADDRESS PIPELINE <in.y4m >out.y4m")
    try:
        main(*sys.argv[1:])
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
