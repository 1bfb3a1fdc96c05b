"""Filters a video through a Sidelight server, and drops no frame: from the contract alone, for authors
of clients. Users of Python have the package in clients/python.

    ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - |
      python filter_video.py 127.0.0.1:50051 'sepiaTone(intensity: 0.8), vignette(intensity: 1)' |
      ffmpeg -i - out.mp4

The modules below `sidelight.v1` are generated from the contract, once:

    pip install grpcio-tools
    python -m grpc_tools.protoc -I Protos --python_out=. --grpc_python_out=. \
      Protos/sidelight/v1/*.proto Protos/google/rpc/*.proto
"""

import sys

import grpc
from sidelight.v1 import frame_filter_pb2, frame_filter_pb2_grpc, image_pb2, session_pb2

# The default limit of a message is 4 MiB, less than a 1080p frame in BGRA.
CHANNEL_OPTIONS = [("grpc.max_receive_message_length", -1)]


def messages(video, width, height, pipeline):
    """Yields the client's messages: `open`, then the frames of the Y4M video."""
    yield session_pb2.ClientMessage(
        open=session_pb2.Open(pipeline=pipeline, drop_policy=session_pb2.DROP_POLICY_NEVER_DROP)
    )
    size = width * height + 2 * ((width + 1) // 2 * ((height + 1) // 2))
    sequence = 0
    while video.readline().startswith(b"FRAME"):
        image = image_pb2.Image(
            format=image_pb2.PIXEL_FORMAT_I420,
            width=width,
            height=height,
            inline=video.read(size),
        )
        sequence += 1
        yield session_pb2.ClientMessage(frame=session_pb2.Frame(sequence=sequence, image=image))


def main(address, text):
    video, result = sys.stdin.buffer, sys.stdout.buffer
    header = video.readline()
    tags = {field[:1]: field[1:] for field in header.split()[1:]}
    if not header.startswith(b"YUV4MPEG2 ") or not tags.get(b"C", b"420").startswith(b"420"):
        sys.exit("The input is not a Y4M video in 4:2:0; use -pix_fmt yuv420p with ffmpeg.")

    with grpc.insecure_channel(address, CHANNEL_OPTIONS) as channel:
        server = frame_filter_pb2_grpc.FrameFilterStub(channel)
        # The server parses the text form of a pipeline, and reports its errors.
        request = frame_filter_pb2.CheckPipelineRequest(text=text)
        pipeline = server.CheckPipeline(request).pipeline

        result.write(header)
        for message in server.Process(messages(video, int(tags[b"W"]), int(tags[b"H"]), pipeline)):
            match message.WhichOneof("kind"):
                case "frame":
                    result.write(b"FRAME\n" + message.frame.image.inline)
                case "dropped":
                    print(f"dropped: {message.dropped}", file=sys.stderr)
                case "stats":
                    print(f"{message.stats.filtered} frames filtered", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: filter_video.py ADDRESS PIPELINE <in.y4m >out.y4m")
    try:
        main(*sys.argv[1:])
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
