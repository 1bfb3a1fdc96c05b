/**
 * Frames of a still picture, which moves or not.
 *
 * @typedef {import("./source.js").Picture} Picture
 * @typedef {import("./source.js").Source} Source
 */

const FRAMES_PER_SECOND = 30;
/** The part of the picture that is seen, and the seconds of one turn of the movement. */
const ZOOM = 0.86;
const TURN_SECONDS = 9;
/** The way of the part down the picture: near the top, so the face is always in it. */
const DEPTH = 0.08;
const PORTRAIT = "media/portrait.jpg";
/** The size of the moving picture, in pixels. */
const WIDTH = 960, HEIGHT = 540;

/**
 * A picture of the user, or the portrait that comes with the page.
 *
 * @implements {Source}
 */
export class StillSource {
  #load;
  #moves;
  #timer = 0;
  #isStopped = false;

  /**
   * @param {string} kind
   * @param {string} label
   * @param {() => Promise<Blob>} load
   * @param {boolean} moves
   */
  constructor(kind, label, load, moves) {
    this.kind = kind;
    this.label = label;
    this.#load = load;
    this.#moves = moves;
  }

  /** The portrait that comes with the page, moving. */
  static portrait() {
    const load = async () => (await fetch(PORTRAIT)).blob();
    return new StillSource("portrait", "Portrait", load, true);
  }

  /** @param {File} file A picture of the user. */
  static file(file) {
    return new StillSource("still", file.name, async () => file, false);
  }

  /** @param {(picture: Picture) => void} onPicture */
  async start(onPicture) {
    /** @type {ImageBitmap} */
    let image;
    try {
      image = await createImageBitmap(await this.#load());
    } catch {
      throw new Error(`${this.label} is no picture that the browser can read.`);
    }
    const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const begin = performance.now();
    let count = 0;
    const draw = () => {
      if (this.#isStopped) return;
      const capturedMs = performance.now();
      if (this.#moves) drawMoving(context, image, (capturedMs - begin) / 1000);
      onPicture(this.#moves
        ? { image: canvas, width: WIDTH, height: HEIGHT, capturedMs }
        : { image, width: image.width, height: image.height, capturedMs });
      count = Math.max(count + 1, Math.floor((capturedMs - begin) * FRAMES_PER_SECOND / 1000));
      this.#timer = window.setTimeout(
        draw, begin + (count + 1) * 1000 / FRAMES_PER_SECOND - performance.now());
    };
    draw();
  }

  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}

/**
 * Draws a part of a picture that moves along an ellipse and breathes.
 *
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {ImageBitmap} image
 * @param {number} seconds
 */
function drawMoving(context, image, seconds) {
  const angle = 2 * Math.PI * seconds / TURN_SECONDS;
  const part = ZOOM * (1 - 0.06 * (1 + Math.sin(angle * 0.7)));
  const width = Math.min(image.width, image.height * WIDTH / HEIGHT) * part;
  const height = width * HEIGHT / WIDTH;
  const x = (image.width - width) * (0.5 + 0.5 * Math.cos(angle));
  const y = (image.height - height) * DEPTH * (0.5 + 0.5 * Math.sin(angle));
  context.drawImage(image, x, y, width, height, 0, 0, WIDTH, HEIGHT);
}
