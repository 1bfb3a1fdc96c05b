/** A pipeline in the address of the page: `#p=sepiaTone(intensity:%200.8)`. */

const KEY = "p";

/** Returns the pipeline's text in the page's address; `null` if there is none. */
export function linkedText() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  return fragment.get(KEY);
}

/**
 * Returns the page's address with a pipeline.
 *
 * @param {string} text
 */
export function linkTo(text) {
  const url = new URL(location.pathname, location.href);
  url.hash = text ? `${KEY}=${encodeURIComponent(text)}` : "";
  return url.href;
}
