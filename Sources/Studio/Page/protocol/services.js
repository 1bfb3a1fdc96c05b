/**
 * The methods of the server.
 *
 * @typedef {import("./Generated/message-types.js").Asset} Asset
 * @typedef {import("./Generated/message-types.js").CheckPipelineRequest} CheckPipelineRequest
 * @typedef {import("./Generated/message-types.js").CheckPipelineResponse} CheckPipelineResponse
 * @typedef {import("./Generated/message-types.js").FilterDescription} FilterDescription
 * @typedef {import("./Generated/message-types.js").OverrideSessionRequest} OverrideSessionRequest
 * @typedef {import("./Generated/message-types.js").OverrideSessionResponse} OverrideSessionResponse
 * @typedef {import("./Generated/message-types.js").SessionInfo} SessionInfo
 * @typedef {import("./call.js").Method} Method
 * @typedef {import("./status.js").RpcError} RpcError
 */

import { Call, request } from "./call.js";

/** The size of an asset's chunks, in bytes. */
const CHUNK_BYTES = 128 << 10;

/** @type {Method} */
export const PROCESS = {
  name: "FrameFilter/Process",
  request: "sidelight.v1.ClientMessage",
  response: "sidelight.v1.ServerMessage",
};

/** @param {string} service @param {string} name @returns {Method} */
function method(service, name) {
  return {
    name: `${service}/${name}`,
    request: `sidelight.v1.${name}Request`,
    response: `sidelight.v1.${name}Response`,
  };
}

/** @returns {Promise<FilterDescription[]>} */
export async function listFilters() {
  return (await request(method("FrameFilter", "ListFilters"), {})).filters;
}

/**
 * @param {Partial<CheckPipelineRequest>} check
 * @returns {Promise<CheckPipelineResponse>}
 */
export function checkPipeline(check) {
  return request(method("FrameFilter", "CheckPipeline"), check);
}

/** @returns {Promise<Asset[]>} */
export async function listAssets() {
  return (await request(method("Assets", "ListAssets"), {})).assets;
}

/**
 * Uploads an asset, and replaces the caller's asset of the same name.
 *
 * @param {string} name
 * @param {Blob} file
 * @returns {Promise<Asset>}
 */
export async function putAsset(name, file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const messages = [{ header: { name, sizeBytes: bytes.length } }];
  /** @type {{chunk: Uint8Array}[]} */
  const chunks = [];
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    chunks.push({ chunk: bytes.subarray(start, start + CHUNK_BYTES) });
  }
  return (await request(method("Assets", "PutAsset"), ...messages, ...chunks)).asset;
}

/**
 * @param {Partial<OverrideSessionRequest>} override
 * @returns {Promise<OverrideSessionResponse>}
 */
export function overrideSession(override) {
  return request(method("Sessions", "OverrideSession"), override);
}

/**
 * Watches the open sessions, until the call is cancelled.
 *
 * @param {(sessions: SessionInfo[]) => void} onSessions Called for each snapshot.
 * @param {(error: RpcError|null) => void} onEnd
 * @returns {Call}
 */
export function watchSessions(onSessions, onEnd) {
  /** @type {SessionInfo[]} */
  let snapshot = [];
  const call = new Call(method("Sessions", "WatchSessions"), (message) => {
    snapshot.push(...message.sessions);
    if (message.continues) return;
    onSessions(snapshot);
    snapshot = [];
  }, onEnd);
  call.send({});
  call.halfClose();
  return call;
}
