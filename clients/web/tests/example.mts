// Compiled by Tests/Studio/test_codec.py against the types of the package.
import {
  FrameEncoder, RpcError, chunkOf, connect, usableCodecs, type Chunk, type FrameToSend,
  type Outcome,
} from "sidelight-web";

export async function filter(frames: AsyncIterable<FrameToSend>, url: string): Promise<number> {
  const session = await connect(url, { token: "secret" }).session("tone: sepiaTone", { label: "example" });
  const outcomes = session.outcomes();
  for await (const frame of frames) session.send(frame);
  await session.update({ tone: { intensity: 0.5 } });
  session.finish();
  let bytes = 0;
  try {
    for await (const outcome of outcomes) bytes += size(outcome);
  } catch (error) {
    if (error instanceof RpcError) console.error(error.code, error.field, error.suggestion);
  }
  return bytes;
}

function size(outcome: Outcome): number {
  return outcome.kind === "frame" ? outcome.image?.inline?.length ?? 0 : -outcome.count;
}

export async function encoded(pictures: AsyncIterable<unknown>, onChunk: (chunk: Chunk) => void) {
  const server = connect();
  const session = await server.session("sepiaTone");
  const size = { width: 640, height: 360 };
  const [codec] = await usableCodecs((await server.info()).codecs, size);
  const encoder = new FrameEncoder((frame) => session.send(frame), console.error);
  encoder.configure(codec, { ...size, bitrate: 600_000 });
  session.addEventListener("keyFrameNeeded", () => encoder.requestKeyFrame());
  session.addEventListener("frame", (event) => {
    const chunk = chunkOf((event as CustomEvent).detail);
    if (chunk) onChunk(chunk);
  });
  for await (const picture of pictures) await encoder.encode(picture);
  await session.setEncoder({ bitRate: 500_000 });
  session.requestKeyFrame();
}
