/**
 * A client of Sidelight over WebSockets, for browsers.
 *
 * @typedef {import("./Generated/message-types.js").Accepted} Accepted
 * @typedef {import("./Generated/message-types.js").Image} Image
 * @typedef {import("./Generated/message-types.js").Open} Open
 * @typedef {import("./Generated/message-types.js").ParameterValue} ParameterValue
 * @typedef {import("./Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("./encoded.js").Chunk} Chunk
 * @typedef {import("./encoded.js").Codec} Codec
 * @typedef {import("./encoded.js").EncodedFrame} EncodedFrame
 * @typedef {import("./outcomes.js").Outcome} Outcome
 * @typedef {import("./rates.js").EncoderTarget} EncoderTarget
 * @typedef {import("./session.js").FrameToSend} FrameToSend
 */

export { CodecError, decode, encode } from "./codec.js";
export { Connection } from "./connection.js";
export { FrameDecoder, FrameEncoder, chunkOf, usableCodecs } from "./encoded.js";
export { toJson } from "./json.js";
export { nextEvent } from "./next-event.js";
export { Server, connect } from "./server.js";
export { Session } from "./session.js";
export { RpcError } from "./status.js";
