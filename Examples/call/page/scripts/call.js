/**
 * The participation in a call: the camera, the connection that sends it and receives its filtered
 * preview, and one connection for each other participant.
 *
 * @typedef {import("./types.js").Participant} Participant
 */

import { Commands } from "./commands.js";
import { Signalling } from "./signalling.js";

/**
 * A call. Dispatches `room` with the participants, `video` with a participant's name and stream,
 * and `end` with the reason.
 */
export class Call extends EventTarget {
  #signalling = new Signalling();
  /** @type {Map<string, RTCPeerConnection>} The connections that receive, by participant. */
  #incoming = new Map();
  #outgoing = new RTCPeerConnection();
  #left = new AbortController();
  /** The own filtered video. */
  preview = new MediaStream();
  /** The path of the participant's resources at the call server. */
  resources = "";

  /**
   * @param {string} room
   * @param {string} name
   * @param {MediaStream} camera
   */
  constructor(room, name, camera) {
    super();
    this.room = room;
    this.name = name;
    this.camera = camera;
    this.commands = new Commands(this.#outgoing.createDataChannel("sidelight"));
    this.#signalling.addEventListener("room", (event) =>
      this.#update(/** @type {CustomEvent} */ (event).detail));
    this.#signalling.addEventListener("end", () => this.leave("The call server ended the call."));
    // A page that goes to the background cache must not keep its place in the room.
    addEventListener("pagehide", () => this.leave(), { signal: this.#left.signal });
  }

  /** Joins the room. */
  async join() {
    const [track] = this.camera.getVideoTracks();
    track.contentHint = "motion";
    const transceiver = this.#outgoing.addTransceiver(track, { streams: [this.camera] });
    const sending = transceiver.sender.getParameters();
    // The server filters frames of one size; a lower frame rate is the lesser evil.
    await transceiver.sender.setParameters({
      ...sending, degradationPreference: "maintain-resolution" });
    this.preview.addTrack(transceiver.receiver.track);
    const { resources } = await this.#negotiate(
      this.#outgoing, { request: "join", room: this.room, name: this.name });
    this.resources = resources;
    await this.commands.opened;
  }

  /**
   * Leaves the room, and ends all connections. Idempotent.
   *
   * @param {string} [reason] The reason for the participant; empty if the user leaves.
   */
  leave(reason = "") {
    if (this.#left.signal.aborted) return;
    this.#left.abort();
    this.#signalling.close();
    for (const connection of [this.#outgoing, ...this.#incoming.values()]) connection.close();
    for (const track of this.camera.getTracks()) track.stop();
    this.dispatchEvent(new CustomEvent("end", { detail: reason }));
  }

  /** @param {Participant[]} participants */
  #update(participants) {
    const others = participants.map(({ name }) => name).filter((name) => name !== this.name);
    for (const [name, connection] of this.#incoming) {
      if (others.includes(name)) continue;
      connection.close();
      this.#incoming.delete(name);
    }
    this.dispatchEvent(new CustomEvent("room", { detail: participants }));
    for (const name of others) if (!this.#incoming.has(name)) this.#receive(name);
  }

  /**
   * Opens a connection that receives a participant's video.
   *
   * @param {string} name
   */
  async #receive(name) {
    const connection = new RTCPeerConnection();
    this.#incoming.set(name, connection);
    connection.addEventListener("connectionstatechange", () => {
      if (connection.connectionState !== "failed" || this.#incoming.get(name) !== connection) return;
      connection.close();
      this.#receive(name);
    });
    const { receiver } = connection.addTransceiver("video", { direction: "recvonly" });
    const detail = { name, stream: new MediaStream([receiver.track]) };
    this.dispatchEvent(new CustomEvent("video", { detail }));
    try {
      await this.#negotiate(connection, { request: "watch", name });
    } catch {
      // The participant left meanwhile; the next list of participants says so.
      connection.close();
      if (this.#incoming.get(name) === connection) this.#incoming.delete(name);
    }
  }

  /**
   * Sends an offer with all candidates in a request, and takes its answer.
   *
   * @param {RTCPeerConnection} connection
   * @param {Record<string, unknown>} request
   */
  async #negotiate(connection, request) {
    for (const { receiver } of connection.getTransceivers()) receiver.jitterBufferTarget = 0;
    await connection.setLocalDescription();
    if (connection.iceGatheringState !== "complete") {
      await new Promise((resolve) =>
        connection.addEventListener("icegatheringstatechange", () =>
          connection.iceGatheringState === "complete" && resolve(undefined)));
    }
    const sdp = connection.localDescription?.sdp;
    const answer = await this.#signalling.request({ ...request, sdp });
    await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    return answer;
  }
}
