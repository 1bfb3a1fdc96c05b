"""Reports who is present in a video: faces by number, when they come and when they leave.

    ffmpeg -re -i in.mp4 -vf scale=640:-2 -pix_fmt yuv420p -f yuv4mpegpipe - |
      python attendance.py 127.0.0.1:50051

`-re` sends the video at its own pace, because the server counts seconds by its clock. Pictures do not
come back. The modules below `sidelight.v1` are generated as for filter_video.py. The server must be built
with Vision.
"""

import sys

import grpc
from sidelight.v1 import frame_filter_pb2, frame_filter_pb2_grpc, image_pb2, session_pb2

PIPELINE = "faceDetection(everyNth: 5)"


def messages(video, width, height, pipeline):
    """Yields the client's messages: `open`, then the frames of the Y4M video."""
    yield session_pb2.ClientMessage(
        open=session_pb2.Open(pipeline=pipeline, analysis_only=True)
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


def seconds_of(analysis, kind):
    """The seconds of the faces that are `present`, or have `left`, by their ids."""
    ids, seconds = (analysis.rows[kind + name].values for name in ("Ids", "Seconds"))
    return {int(face): time for face, time in zip(ids, seconds)}


def main(address):
    video = sys.stdin.buffer
    tags = {field[:1]: field[1:] for field in video.readline().split()[1:]}
    present = {}
    with grpc.insecure_channel(address) as channel:
        server = frame_filter_pb2_grpc.FrameFilterStub(channel)
        request = frame_filter_pb2.CheckPipelineRequest(text=PIPELINE)
        pipeline = server.CheckPipeline(request).pipeline
        for message in server.Process(messages(video, int(tags[b"W"]), int(tags[b"H"]), pipeline)):
            if message.WhichOneof("kind") != "analysis":
                continue
            before, present = present, seconds_of(message.analysis, "present")
            left = seconds_of(message.analysis, "left")
            for face in present.keys() - before.keys():
                print(f"{face} is present", flush=True)
            for face in before.keys() - present.keys():
                print(f"{face} has left after {left.get(face, before[face]):.1f} s", flush=True)
    for face, seconds in present.items():
        print(f"{face} was present for {seconds:.1f} s at the end")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except grpc.RpcError as error:
        sys.exit(error.details())
