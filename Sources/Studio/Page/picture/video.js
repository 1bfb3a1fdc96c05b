/**
 * The choice between encoded video and JPEG pictures.
 *
 * @typedef {import("../sidelight/index.js").Codec} Codec
 */

import { usableCodecs } from "../sidelight/index.js";
import { server } from "../server.js";
import { byId } from "../shared/dom.js";

/** The largest size of frames. */
const SIZE = { width: 1280, height: 720 };
const AS_JPEG = "Frames are sent as JPEG pictures";

/**
 * Returns the codecs in which frames can be sent, the best first, and the reason if there are none.
 *
 * @returns {Promise<{codecs: Codec[], reason: string}>}
 */
export async function loadVideo() {
  if (!("VideoEncoder" in window && "VideoDecoder" in window)) {
    return { codecs: [], reason: `${AS_JPEG}: this browser cannot encode video for pages.` };
  }
  const info = await server.info().catch(() => null);
  const codecs = await usableCodecs(info?.codecs ?? [], SIZE);
  return { codecs, reason: codecs.length ? "" : `${AS_JPEG}: browser and server share no codec.` };
}

/**
 * Shows the choice.
 *
 * @param {{codecs: Codec[], reason: string}} video
 * @param {(codec: Codec|null) => void} onChoice Called now and after a change.
 * @returns {(reason: string) => void} Chooses JPEG, because video failed.
 */
export function showVideo({ codecs, reason }, onChoice) {
  const choice = byId("video");
  const hint = byId("video-hint");
  for (const option of choice.options) {
    option.disabled = option.value !== "" && !codecs.includes(option.value);
  }

  /** @param {string} value @param {string} text */
  function choose(value, text) {
    choice.value = value;
    hint.textContent = text;
    hint.hidden = !text;
    onChoice(/** @type {Codec} */ (value) || null);
  }

  choice.onchange = () => choose(choice.value, "");
  choose([...choice.options].find(({ disabled }) => !disabled).value, reason);
  return (failure) => choose("", `${AS_JPEG}: ${failure}`);
}
