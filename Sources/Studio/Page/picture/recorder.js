/** Files of the picture: a still, and a recording of ten seconds. */

import { byId, element, save } from "../shared/dom.js";

const SECONDS = 10;
const FRAMES_PER_SECOND = 30;
const BITS_PER_SECOND = 4_000_000;
/** The formats of recordings, the first that the browser supports. */
const FORMATS = [
  { type: "video/webm;codecs=vp9", extension: "webm" },
  { type: "video/webm;codecs=vp8", extension: "webm" },
  { type: "video/mp4", extension: "mp4" },
];

/**
 * Shows the buttons that save the picture.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {() => string} name The name of files, without extension.
 */
export function showRecorder(canvas, name) {
  const button = byId("record");
  const label = byId("record-label");
  const result = byId("recording");
  /** @type {MediaRecorder|null} */
  let recorder = null;
  let url = "";

  byId("save-still").onclick = () => canvas.toBlob((file) => {
    if (file) save(file, `${name()}.png`);
  }, "image/png");

  button.onclick = () => {
    if (recorder) return recorder.stop();
    start();
  };

  function start() {
    const format = FORMATS.find(({ type }) => MediaRecorder.isTypeSupported(type));
    if (!format) {
      result.replaceChildren(element("p", { class: "problem" }, "This browser cannot record."));
      result.hidden = false;
      return;
    }
    /** @type {Blob[]} */
    const parts = [];
    const stream = canvas.captureStream(FRAMES_PER_SECOND);
    const current = new MediaRecorder(
      stream, { mimeType: format.type, videoBitsPerSecond: BITS_PER_SECOND });
    recorder = current;
    current.ondataavailable = ({ data }) => parts.push(data);
    current.onstop = () => {
      clearInterval(timer);
      recorder = null;
      for (const track of stream.getTracks()) track.stop();
      button.setAttribute("aria-pressed", "false");
      label.textContent = `Record ${SECONDS} s`;
      show(new Blob(parts, { type: format.type.split(";")[0] }), format.extension);
    };
    current.start(1000);
    button.setAttribute("aria-pressed", "true");
    let left = SECONDS;
    label.textContent = `Stop (${left} s)`;
    const timer = setInterval(() => {
      left -= 1;
      label.textContent = `Stop (${left} s)`;
      if (left <= 0 && current.state !== "inactive") current.stop();
    }, 1000);
  }

  /** @param {Blob} file @param {string} extension */
  function show(file, extension) {
    URL.revokeObjectURL(url);
    url = URL.createObjectURL(file);
    const size = `${(file.size / 1e6).toFixed(1)} MB`;
    result.replaceChildren(
      element("video", { src: url, controls: true, loop: true, muted: true, playsinline: true,
        "aria-label": "The recording" }),
      element("div", { class: "row" },
        element("a", { class: "button", href: url, download: `${name()}.${extension}` },
          `Save the recording (${size})`),
        element("button", { type: "button", class: "quiet", click: () => {
          result.hidden = true;
          result.replaceChildren();
          button.focus();
        } }, "Discard")));
    result.hidden = false;
  }
}
