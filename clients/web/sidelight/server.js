/**
 * The methods of a server.
 *
 * @typedef {import("./Generated/message-types.js").Asset} Asset
 * @typedef {import("./Generated/message-types.js").CheckPipelineRequest} CheckPipelineRequest
 * @typedef {import("./Generated/message-types.js").CheckPipelineResponse} CheckPipelineResponse
 * @typedef {import("./Generated/message-types.js").FilterDescription} FilterDescription
 * @typedef {import("./Generated/message-types.js").GetServerInfoResponse} GetServerInfoResponse
 * @typedef {import("./Generated/message-types.js").Open} Open
 * @typedef {import("./Generated/message-types.js").OverrideSessionRequest} OverrideSessionRequest
 * @typedef {import("./Generated/message-types.js").OverrideSessionResponse} OverrideSessionResponse
 * @typedef {import("./Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("./Generated/message-types.js").SessionInfo} SessionInfo
 * @typedef {import("./call.js").Endpoint} Endpoint
 * @typedef {import("./call.js").Method} Method
 */

import { Call } from "./call.js";
import { nextEvent } from "./next-event.js";
import { Session, sourceOf } from "./session.js";
import { RpcError } from "./status.js";

/** The size of an asset's chunks, in bytes. */
const CHUNK_BYTES = 128 << 10;

/** @param {string} service @param {string} name @returns {Method} */
function method(service, name) {
  return {
    name: `${service}/${name}`,
    request: `sidelight.v1.${name}Request`,
    response: `sidelight.v1.${name}Response`,
  };
}

/**
 * Returns a server. Each call opens a WebSocket to it; this function does not connect.
 *
 * @param {string|URL} [url] The server's address, such as `https://video.example.com`; the page's
 *   if it is absent.
 * @param {Omit<Endpoint, "url">} [options]
 */
export function connect(url, options = {}) {
  return new Server({ ...options, url });
}

/** A server that is reached over WebSockets. Its methods throw {@link RpcError}. */
export class Server {
  /** @param {Endpoint} endpoint */
  constructor(endpoint) {
    this.endpoint = endpoint;
  }

  /**
   * Opens a session, and returns it when the server has accepted it.
   *
   * @param {string|Pipeline} pipeline The pipeline or its text, such as `sepiaTone`.
   * @param {Partial<Open>} [options]
   * @returns {Promise<Session>}
   */
  async session(pipeline, options = {}) {
    const session = this.open({ ...options, ...sourceOf(pipeline) });
    const { type, detail } = await nextEvent(session, ["opened"]);
    if (type === "opened") return session;
    throw detail ?? new RpcError("CANCELLED", "The server ended the session.");
  }

  /**
   * Opens a session, and returns it at once: its event `opened` or `end` follows.
   *
   * @param {Partial<Open>} options
   */
  open(options) {
    return new Session(this.endpoint, options);
  }

  /** @returns {Promise<GetServerInfoResponse>} Version, limits, features and codecs. */
  info() {
    return this.#request(method("FrameFilter", "GetServerInfo"), {});
  }

  /** @returns {Promise<FilterDescription[]>} */
  async listFilters() {
    return (await this.#request(method("FrameFilter", "ListFilters"), {})).filters;
  }

  /**
   * @param {Partial<CheckPipelineRequest>} check
   * @returns {Promise<CheckPipelineResponse>}
   */
  checkPipeline(check) {
    return this.#request(method("FrameFilter", "CheckPipeline"), check);
  }

  /** @returns {Promise<Asset[]>} */
  async listAssets() {
    return (await this.#request(method("Assets", "ListAssets"), {})).assets;
  }

  /**
   * Uploads an asset, and replaces the caller's asset of the same name.
   *
   * @param {string} name
   * @param {Blob} file
   * @returns {Promise<Asset>}
   */
  async putAsset(name, file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const messages = [{ header: { name, sizeBytes: bytes.length } }];
    /** @type {{chunk: Uint8Array}[]} */
    const chunks = [];
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      chunks.push({ chunk: bytes.subarray(start, start + CHUNK_BYTES) });
    }
    return (await this.#request(method("Assets", "PutAsset"), ...messages, ...chunks)).asset;
  }

  /**
   * @param {Partial<OverrideSessionRequest>} override
   * @returns {Promise<OverrideSessionResponse>}
   */
  overrideSession(override) {
    return this.#request(method("Sessions", "OverrideSession"), override);
  }

  /**
   * Watches the open sessions, until the call is cancelled.
   *
   * @param {(sessions: SessionInfo[]) => void} onSessions Called for each snapshot.
   * @param {(error: RpcError|null) => void} onEnd
   * @returns {Call}
   */
  watchSessions(onSessions, onEnd) {
    /** @type {SessionInfo[]} */
    let snapshot = [];
    const call = new Call(this.endpoint, method("Sessions", "WatchSessions"), (message) => {
      snapshot.push(...message.sessions);
      if (message.continues) return;
      onSessions(snapshot);
      snapshot = [];
    }, onEnd);
    call.send({});
    call.halfClose();
    return call;
  }

  /**
   * Sends requests and returns the response of a method with one.
   *
   * @param {Method} method
   * @param {...object} requests
   * @returns {Promise<any>}
   */
  #request(method, ...requests) {
    return new Promise((resolve, reject) => {
      /** @type {any} */
      let response = null;
      const call = new Call(this.endpoint, method, (message) => { response = message; }, (error) => {
        if (error) reject(error);
        else if (response) resolve(response);
        else reject(new RpcError("INTERNAL", `${method.name} ended without a response.`));
      });
      for (const each of requests) call.send(each);
      call.halfClose();
    });
  }
}
