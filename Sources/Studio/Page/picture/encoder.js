/**
 * A worker that draws pictures in the size of frames, and encodes them as JPEG. On the page's own
 * thread browsers encode only while the thread is idle, which on a busy machine takes seconds.
 *
 * @typedef {import("./capture.js").EncoderRequest} EncoderRequest
 */

const canvas = new OffscreenCanvas(1, 1);
const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));

addEventListener("message", async ({ data }) => {
  const { id, bitmap, width, height, isMirrored, quality } =
    /** @type {EncoderRequest} */ (data);
  // Also clears the canvas.
  canvas.width = width;
  canvas.height = height;
  drawMiddle(bitmap, width, height, isMirrored);
  bitmap.close();
  const blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
  const buffer = await blob.arrayBuffer();
  postMessage({ id, buffer }, { transfer: [buffer] });
});

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
