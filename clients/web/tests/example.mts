// Compiled by Tests/Studio/test_codec.py against the types of the package.
import { RpcError, connect, type FrameToSend, type Outcome } from "sidelight-web";

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
