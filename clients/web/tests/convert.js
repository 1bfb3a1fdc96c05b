// Reads lines `TYPE HEX` of messages, and writes for each the line `HEX JSON`: the message
// serialized again, and in protobuf's JSON mapping; or `error MESSAGE`. For test_codec.py.
import { createInterface } from "node:readline";

import { CodecError, decode, encode } from "../sidelight/codec.js";
import { toJson } from "../sidelight/json.js";

for await (const line of createInterface({ input: process.stdin })) {
  const [type, hex = ""] = line.split(" ");
  try {
    const message = decode(type, new Uint8Array(Buffer.from(hex, "hex")));
    const bytes = Buffer.from(encode(type, message)).toString("hex");
    console.log(`${bytes || "-"} ${JSON.stringify(toJson(type, message))}`);
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    console.log(`error ${error.message}`);
  }
}
