/** Colours of inputs: `#ff8000`. */

/**
 * Returns the channels of a colour, 0-1.
 *
 * @param {string} text Such as `#ff8000`.
 */
export function channelsOf(text) {
  const [red, green, blue] = [1, 3, 5].map((start) =>
    parseInt(text.slice(start, start + 2), 16) / 255);
  return { red, green, blue };
}

/**
 * Returns a colour as `#ff8000`.
 *
 * @param {number[]} channels Red, green and blue; values outside 0-1 are limited.
 */
export function hexadecimal(channels) {
  return `#${channels.map((channel) =>
    Math.round(Math.min(1, Math.max(0, channel)) * 255).toString(16).padStart(2, "0")).join("")}`;
}
