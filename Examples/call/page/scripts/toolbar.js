/**
 * The buttons below the tiles.
 *
 * @typedef {import("./call.js").Call} Call
 * @typedef {import("./tiles.js").Tiles} Tiles
 */

import { byId, save } from "../shared/dom.js";

/**
 * Connects the buttons.
 *
 * @param {Call} call
 * @param {Tiles} tiles
 * @param {{preview: boolean, isFrontCamera: boolean}} options
 */
export function showToolbar(call, tiles, options) {
  const list = byId("tiles");
  list.classList.remove("filled");
  tiles.own.classList.toggle("mirrored", options.isFrontCamera);
  tiles.play(call.name, options.preview ? call.preview : call.camera);
  if (!options.preview) call.commands.notify({ command: "preview", on: false });

  toggle("pause-video", false, async (isPaused) => {
    // Pictures stay on the device: the camera's frames are black while the track is off.
    const [track] = call.camera.getVideoTracks();
    track.enabled = !isPaused;
    try {
      await call.commands.send({ command: isPaused ? "pause" : "resume" });
    } catch (error) {
      track.enabled = isPaused;
      throw error;
    }
  });
  toggle("preview", options.preview, async (isOn) => {
    await call.commands.send({ command: "preview", on: isOn });
    tiles.play(call.name, isOn ? call.preview : call.camera);
  });
  toggle("mirror", options.isFrontCamera, (isOn) => {
    tiles.own.classList.toggle("mirrored", isOn);
  });
  toggle("fit", false, (isFilled) => list.classList.toggle("filled", isFilled));

  byId("snapshot").onclick = async () => {
    const response = await fetch(`${call.resources}/snapshot`);
    if (response.ok) save(await response.blob(), `${call.name}.png`);
  };
  byId("leave").onclick = () => call.leave();
}

/**
 * Connects a button with two states.
 *
 * @param {string} id
 * @param {boolean} isOn The first state.
 * @param {(isOn: boolean) => unknown} change Changes the state. If it fails, the button goes back.
 */
function toggle(id, isOn, change) {
  const button = byId(id);
  button.setAttribute("aria-pressed", String(isOn));
  button.onclick = async () => {
    const next = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(next));
    try {
      await change(next);
    } catch {
      button.setAttribute("aria-pressed", String(!next));
    }
  };
}
