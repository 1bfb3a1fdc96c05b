/**
 * Parameters that show the effect of a filter whose defaults do not, or hardly.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 */

/** @param {number} value @returns {ParameterValue} */
const number = (value) => ({ number: value });
/** @param {...number} values @returns {ParameterValue} */
const vector = (...values) => ({ vector: { values } });
/** @param {string} value @returns {ParameterValue} */
const text = (value) => ({ text: value });
/** @param {number} value @returns {ParameterValue} */
const height = (value) => ({ length: { value, unit: "HEIGHT" } });
/** @param {number} value @returns {ParameterValue} */
const width = (value) => ({ length: { value, unit: "WIDTH" } });
/** @param {number} x @param {number} y @returns {ParameterValue} */
const point = (x, y) =>
  ({ point: { x: { value: x, unit: "WIDTH" }, y: { value: y, unit: "HEIGHT" } } });

/** @type {Record<string, Record<string, ParameterValue>>} */
export const examples = {
  affineTransform: { transform: vector(0.97, 0.17, -0.17, 0.97, 40, -40) },
  backgroundBlur: { matte: text("portrait") },
  bloom: { intensity: number(0.9), radius: height(0.03) },
  boxBlur: { radius: height(0.02) },
  bumpDistortion: { radius: height(0.45), scale: number(0.6) },
  colorControls: { saturation: number(1.5), contrast: number(1.1) },
  colorMatrix: { rVector: vector(0, 0, 1, 0), bVector: vector(1, 0, 0, 0) },
  convolution3X3: { weights: vector(-2, -1, 0, -1, 1, 1, 0, 1, 2) },
  convolution5X5: {
    weights: vector(
      -1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1),
  },
  convolutionRGB3X3: { weights: vector(0, -1, 0, -1, 5, -1, 0, -1, 0) },
  crop: { origin: point(0.2, 0.1), width: width(0.6), height: height(0.8) },
  crystallize: { radius: height(0.03) },
  exposureAdjust: { ev: number(0.8) },
  gammaAdjust: { power: number(0.6) },
  gaussianBlur: { radius: height(0.015) },
  gloom: { intensity: number(0.9), radius: height(0.03) },
  holeDistortion: { radius: height(0.2) },
  hueAdjust: { angle: number(1.57) },
  motionBlur: { radius: height(0.04) },
  noiseReduction: { noiseLevel: number(0.06) },
  orient: { mirrored: { flag: true } },
  overlay: { origin: point(0.68, 0.04), width: width(0.28), height: height(0.3) },
  pinchDistortion: { radius: height(0.6), scale: number(0.5) },
  pixellate: { scale: height(0.03) },
  sharpenLuminance: { sharpness: number(1.5) },
  temperatureAndTint: { targetNeutral: vector(4200, 0) },
  text: { text: text("Sidelight"), size: height(0.1) },
  twirlDistortion: { radius: height(0.6), angle: number(2.2) },
  unsharpMask: { intensity: number(1.5), radius: height(0.01) },
  vibrance: { amount: number(0.9) },
  vignette: { intensity: number(1), radius: number(0.8) },
  vignetteEffect: { radius: height(0.45), intensity: number(0.9) },
  virtualBackground: { protect: { flag: false } },
  whitePointAdjust: { color: { color: { red: 1, green: 0.82, blue: 0.62 } } },
  zoomBlur: { amount: number(14) },
};
