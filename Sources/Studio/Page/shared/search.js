/** The search for filters by name, category, description and purpose. */

import { words } from "./words.js";

/**
 * Words by which people look for filters, where neither name nor description has them.
 *
 * @type {Record<string, string>}
 */
const PURPOSES = {
  affineTransform: "rotate shift zoom perspective",
  backgroundBlur: "hide room bokeh portrait",
  barcode: "scan code",
  beauty: "smooth wrinkles makeup face soft",
  bloom: "soft light shine",
  boxBlur: "soft hide",
  cartoon: "comic drawing draw",
  chromaKey: "remove replace background transparent virtual",
  colorBalance: "grade tint",
  colorControls: "brighter darker vivid gray",
  colorCube: "lut look grade film",
  colorInvert: "negative",
  colorMatrix: "channels swap mix",
  crop: "cut trim zoom",
  crystallize: "mosaic",
  edgePreservingSmooth: "skin soft denoise",
  exposureAdjust: "brighter darker brightness light",
  faceBlur: "anonymous anonymize censor hide privacy person people",
  faceDetection: "attendance count people presence find",
  facePixellate: "anonymous anonymize censor hide privacy person people blur pixelate mosaic",
  gammaAdjust: "brighter darker midtones brightness",
  gaussianBlur: "soft smooth hide",
  grain: "old analog",
  grayscale: "black white monochrome",
  holeDistortion: "warp",
  kernel: "custom own formula shader code program",
  lowLight: "dark night brighter denoise noise",
  lumaKey: "remove background transparent",
  median: "denoise clean noise",
  motionBlur: "speed",
  noiseReduction: "denoise clean",
  orient: "flip turn upside selfie",
  overlay: "watermark glasses hat moustache badge brand",
  photoEffectMono: "black white monochrome gray",
  photoEffectNoir: "black white monochrome gray",
  photoEffectTonal: "black white monochrome gray",
  pinchDistortion: "warp",
  pixellate: "pixelate mosaic censor hide",
  posterize: "pop art",
  scale: "size smaller larger",
  sepiaTone: "old vintage photo",
  sharpenAdaptive: "crisp focus detail",
  sharpenLuminance: "crisp focus detail",
  sketch: "drawing draw",
  temperatureAndTint: "warmer colder cooler white balance",
  text: "title caption subtitle label name watermark write",
  timecode: "clock time date timestamp",
  toneCurve: "contrast brighter darker",
  twirlDistortion: "warp swirl",
  unsharpMask: "crisp focus sharpen detail",
  vibrance: "vivid",
  vignette: "dark corners",
  vignetteEffect: "dark corners spotlight",
  virtualBackground: "remove hide room green screen",
  whiteBalance: "warmer colder cooler cast",
  zoomBlur: "speed",
};
/** Words of a query that name no filter. */
const IGNORED = new Set(
  "a an and the of to in on at for from with my your our me i is it make add filter filters".split(" "));
/** The letters from which a word of a query is the beginning of others. */
const LEAST_LETTERS = 3;
/** Other spellings of words in names and descriptions. */
/** @type {[RegExp, string][]} */
const SPELLINGS = [[/colour/g, "color"], [/grey/g, "gray"]];

/**
 * Returns whether a filter is one that a query looks for: each word of the query begins one of the
 * filter's words, whatever its ending.
 *
 * @param {{name: string, summary: string, category: string}} filter
 * @param {string} query Empty: all filters.
 */
export function isFound({ name, summary, category }, query) {
  const text = spelled(`${words(name)} ${category} ${summary} ${PURPOSES[name] ?? ""}`);
  const whole = name.toLowerCase();
  return wordsOf(spelled(query)).filter((word) => !IGNORED.has(word)).every((word) =>
    wordsOf(text).some((each) => (word.length < LEAST_LETTERS
      ? each === word : each.startsWith(root(word)) || whole.includes(word))));
}

/** @param {string} text */
function wordsOf(text) {
  return text.split(/[^\p{L}\p{N}×]+/u).filter(Boolean);
}

/** @param {string} text */
function spelled(text) {
  return SPELLINGS.reduce(
    (changed, [from, to]) => changed.replace(from, to), text.toLowerCase());
}

/**
 * Returns a word without its ending: "blurring" and "blurred" as "blur", "faces" as "face".
 *
 * @param {string} word
 */
function root(word) {
  if (word.length < 5) return word.replace(/([^s])s$/, "$1");
  const short = word.replace(/(ing|ed)$/, "");
  if (short !== word) return short.replace(/([bdgmnprt])\1$/, "$1");
  return word.replace(/([^s])s$/, "$1").replace(/e$/, "");
}
