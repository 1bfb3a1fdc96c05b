/**
 * A worker that draws pictures in the size of frames, and encodes them as JPEG or video. On the
 * page's own thread browsers encode JPEG only while the thread is idle, which on a busy machine
 * takes seconds.
 *
 * @typedef {import("./capture.js").EncoderRequest} EncoderRequest
 */

import { FrameEncoder } from "../sidelight/encoded.js";

/** The rate of video: 2.5 Mbit/s for 1280x720 at 30 frames per second, as the server's. */
const FRAMES_PER_SECOND = 30, BITS_PER_PIXEL = 0.09;

const canvas = new OffscreenCanvas(1, 1);
const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
/** The codec and size of the encoder; empty before the first frame and after an error. */
let shape = "";
let lastTimestamp = 0;
/** @type {Map<number, ArrayBuffer>} The JPEG files of pictures that are encoded, by timestamp. */
const jpegs = new Map();

const encoder = new FrameEncoder((frame) => {
  const { timestamp, data } = frame.chunk;
  const buffer = jpegs.get(timestamp) ?? null;
  for (const earlier of jpegs.keys()) if (earlier <= timestamp) jpegs.delete(earlier);
  postMessage({ frame, buffer }, { transfer: [data.buffer, ...(buffer ? [buffer] : [])] });
}, fail);

addEventListener("message", async ({ data }) => {
  const request = /** @type {EncoderRequest} */ (data);
  const buffer = await encode(request).catch(fail) ?? null;
  postMessage({ id: request.id, buffer }, { transfer: buffer ? [buffer] : [] });
});

/**
 * Returns the JPEG file of a picture that is not video; passes others to the encoder of video.
 *
 * @param {EncoderRequest} request
 */
async function encode({ bitmap, width, height, isMirrored, quality, video }) {
  // Also clears the canvas.
  canvas.width = width;
  canvas.height = height;
  drawMiddle(bitmap, width, height, isMirrored);
  bitmap.close();
  // Both take the content of the canvas at once; another request may follow meanwhile.
  const picture = video && videoFrame(video.capturedMs);
  try {
    const buffer = quality ? await jpeg(quality) : null;
    if (!video || !picture) return buffer;
    if (buffer) jpegs.set(picture.timestamp, buffer);
    if (video.isKeyFrame) encoder.requestKeyFrame();
    if (shape !== `${video.codec} ${width} ${height}`) {
      shape = `${video.codec} ${width} ${height}`;
      encoder.configure(video.codec, {
        width, height, framerate: FRAMES_PER_SECOND,
        bitrate: Math.round(width * height * FRAMES_PER_SECOND * BITS_PER_PIXEL),
      });
    }
    // The encoder calls `fail` itself.
    await encoder.encode(picture).catch(() => {});
    return null;
  } finally {
    picture?.close();
  }
}

/** @param {Error} error An error of video: JPEG files are encoded by all browsers. */
function fail({ message }) {
  shape = "";
  postMessage({ error: message });
}

/** @param {number} quality */
async function jpeg(quality) {
  return (await canvas.convertToBlob({ type: "image/jpeg", quality })).arrayBuffer();
}

/** @param {number} capturedMs */
function videoFrame(capturedMs) {
  // The times of two sources may overlap.
  lastTimestamp = Math.max(lastTimestamp + 1, Math.round(capturedMs * 1000));
  return new VideoFrame(canvas, { timestamp: lastTimestamp });
}

/**
 * Draws the middle of a picture with the aspect ratio of frames.
 *
 * @param {ImageBitmap} bitmap
 * @param {number} across
 * @param {number} down
 * @param {boolean} isMirrored
 */
function drawMiddle(bitmap, across, down, isMirrored) {
  const { width, height } = bitmap;
  const scale = Math.min(width / across, height / down);
  const seen = { width: across * scale, height: down * scale };
  context.setTransform(isMirrored ? -1 : 1, 0, 0, 1, isMirrored ? across : 0, 0);
  context.drawImage(
    bitmap, (width - seen.width) / 2, (height - seen.height) / 2, seen.width, seen.height,
    0, 0, across, down);
}
