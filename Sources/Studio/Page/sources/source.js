/**
 * The interface of the sources of frames.
 *
 * @typedef {object} Picture The newest picture of a source.
 * @property {CanvasImageSource|OffscreenCanvas} image
 * @property {number} width In pixels.
 * @property {number} height In pixels.
 * @property {number} capturedMs The capture time, on the clock of `performance.now()`.
 *
 * @typedef {object} Source A source of frames.
 * @property {string} kind `portrait`, `camera`, `file` or `still`.
 * @property {string} label
 * @property {(onPicture: (picture: Picture) => void) => Promise<void>} start Starts to deliver
 *   pictures. Rejects with an `Error` for the user if no picture is available.
 * @property {() => void} stop
 */

export {};
