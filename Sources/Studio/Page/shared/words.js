/** Names of filters and parameters for people. */

/**
 * Returns a name in lower camel case, or with hyphens, as words: `gaussianBlur` as "Gaussian blur",
 * `convolutionRGB3X3` as "Convolution RGB 3×3".
 *
 * @param {string} name
 */
export function words(name) {
  const spaced = name
    .replace(/(\d)X(\d)/g, " $1×$2")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[-_]+/g, " ")
    .split(" ").filter(Boolean)
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase())).join(" ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
