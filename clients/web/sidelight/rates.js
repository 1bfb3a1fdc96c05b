/**
 * Adapts the page's encoder to the connection. A port of
 * Sources/Wire/Sessions/EncoderRateController.swift, which explains it; the constants have the same
 * names and values. Times are seconds, sizes are bytes, rates are bits per second.
 */

/** The excess from which the link may be slower than the bit rate. */
const CONGESTED_EXCESS = 0.05;
/** The rate at which the bucket leaks, relative to the bit rate. */
const LEAK = 1.25;
/** The largest excess without a queue. */
const CLEAR_EXCESS = 0.01;
/** The part of the expected delay by which frames must arrive earlier for the bit rate to grow. */
const MARGIN = 0.15;
/** The part of the round trip, and the time, for which the excess must persist. */
const PERSISTENCE_ROUND_TRIPS = 0.75, PERSISTENCE_SECONDS = 0.03;
/** The multiple of the bit rate at which frames arrive together, and how long that counts. */
const BURST_FACTOR = 1.5, BURST_SECONDS = 0.3;
/** The time over which the delivered rate is measured. */
const MEASUREMENT_ROUND_TRIPS = 2, MEASUREMENT_SECONDS = 0.25;
/** The time after which the oldest frame without acknowledgement makes the window narrow. */
const PATIENCE = 0.08;
/** The frame intervals that the window covers after the shortest round trip. */
const SLACK = 2.2;
/** The frames beyond a round trip for which the window has room, up to a size. */
const FLOOR_FRAMES = 6, FLOOR_BYTES = 64_000;
/** The time for which the window has room while acknowledgements are late, up to a size. */
const LATE_SECONDS = 0.2, LATE_BYTES = 24_000;
/** The part of the delivered rate to which the bit rate falls. */
const DRAIN = 0.85;
/** The relative growth per second, and near the rate that was too high. */
const GROWTH_FREE = 0.5, GROWTH_NEAR = 0.1;
/** The part of the bit rate that the encoder must have used in the last second. */
const USED = 0.7;
/** The time after which a shortest round trip is forgotten. */
const MEMORY = 10;
/** The time without refusals after which the bit rate grows, and the time after which the rate that
 * was too high is forgotten. */
const CALM_GROWTH = 0.2, CALM_CONGESTION = 4;
/** The refusals in a second from which the bit rate falls. */
const MAX_REFUSALS = 4;
/** The falls in a row after which the round trip is measured again. */
const MAX_FALLS = 3;

const SCALES = [1, 0.75, 0.5, 0.375, 0.25];
const FRAME_RATES = [0.5, 0.25];
/** The bits per pixel below which a smaller picture looks better. */
const BITS_PER_PIXEL = 0.03;
/** A larger level needs this much more than its lowest bit rate, for this time. */
const RISE_FACTOR = 1.5, RISE_SECONDS = 2;

/** The lowest and the first bit rate. */
const MIN_BIT_RATE = 100_000, START_BIT_RATE = 2_000_000;

/**
 * @typedef {object} EncoderTarget Values for an encoder, by the names of WebCodecs.
 * @property {number} bitrate The bits per second.
 * @property {number} width The width in pixels.
 * @property {number} height The height in pixels.
 * @property {number} framerate The frames per second.
 *
 * @typedef {object} SentFrame A frame without acknowledgement.
 * @property {number} sequence
 * @property {number} bytes
 * @property {number} sent
 * @property {number} expected The delay over a link of the bit rate, without its shortest round
 *   trip.
 */

/** The values for one encoder. */
export class RateController {
  /** @type {EncoderTarget} The wished values, which are the maximum. */
  target;
  #minBitRate;
  #bitRate;
  #levels;
  /** @type {SentFrame[]} */
  #inFlight = [];
  #inFlightBytes = 0;
  /** The bytes that wait for a link of the bit rate, at the time of the last frame. */
  #bucketBytes = 0;
  #bucketTime = 0;
  /** @type {{time: number, bytes: number}[]} The frames of the last second. */
  #recent = [];
  #frameBytes = 0;
  /** The shortest round trips of an older and of a newer time, which began at `#since`. */
  #older = Infinity;
  #newer = Infinity;
  #since = 0;
  /** @type {{time: number, bytes: number}[]} The acknowledgements of the time of measurement. */
  #acknowledgements = [];
  /** @type {number|null} The time of the first acknowledgement with excess, without a later one
   *   that has none. */
  #congestedSince = null;
  /** The time at which late frames arrived together. */
  #lastBurst = -Infinity;
  /** The falls of the bit rate since the last acknowledgement without excess: their number, the bit
   *   rate before the first, the last frame that was sent before the last, and the shortest delay
   *   of later frames. */
  #falls = { count: 0, bitRate: 0, sequence: 0, shortest: Infinity };
  /** @type {{rate: number, time: number}|null} The delivered rate when the bit rate fell last. */
  #congestion = null;
  /** @type {number[]} The times at which the window had no room, in the last second. */
  #refusals = [];
  #lastSequence = 0;
  /** The time that the receiver has frames before it acknowledges them. */
  #processing = 0;

  /**
   * @param {EncoderTarget} target
   * @param {{minBitRate?: number, startBitRate?: number}} [options] The lowest and the first bit
   *   rate.
   */
  constructor(target, options) {
    const { minBitRate = MIN_BIT_RATE, startBitRate = START_BIT_RATE } = options ?? {};
    this.target = target;
    this.#minBitRate = Math.min(minBitRate, target.bitrate);
    this.#bitRate = Math.max(Math.min(startBitRate, target.bitrate), this.#minBitRate);
    this.#levels = new Levels(target);
    this.#levels.choose(this.#bitRate, 0);
  }

  /** The values to encode the next frame with. */
  get current() {
    return { ...this.#levels.current, bitrate: Math.floor(this.#bitRate) };
  }

  /**
   * Changes the wished values. A bit rate above the new one falls to it.
   *
   * @param {EncoderTarget} target
   * @param {number} now
   */
  setTarget(target, now) {
    this.target = target;
    this.#bitRate = Math.min(this.#bitRate, target.bitrate);
    this.#levels = new Levels(target);
    this.#levels.choose(this.#bitRate, now);
  }

  // Frames

  /**
   * Returns whether another frame may be encoded and sent. Call it only with a frame: a refusal
   * shows that the window is full.
   *
   * @param {number} now
   */
  maySend(now) {
    const [oldest] = this.#inFlight;
    if (!oldest) return true;
    // Without an acknowledgement the oldest frame is at least this late.
    const late = now - oldest.sent - this.#roundTrip - oldest.expected - this.#processing;
    const isLate = this.#congestedSince !== null || late > CONGESTED_EXCESS + PATIENCE;
    const window = isLate ? this.#narrowWindow : this.#window;
    if (this.#inFlightBytes + this.#nextBytes <= window) return true;
    while (now - this.#refusals[0] > 1) this.#refusals.shift();
    // A caller may ask for the same frame again.
    const last = this.#refusals.at(-1) ?? -Infinity;
    if (now - last > 1 / this.#levels.current.framerate / 2) this.#refusals.push(now);
    return false;
  }

  /**
   * Records a frame that is sent.
   *
   * @param {number} sequence
   * @param {number} bytes
   * @param {number} now
   */
  sent(sequence, bytes, now) {
    const drained = LEAK * (now - this.#bucketTime) * this.#bitRate / 8;
    this.#bucketBytes = Math.max(0, this.#bucketBytes - drained) + bytes;
    this.#bucketTime = now;
    const expected = this.#bucketBytes * 8 / this.#bitRate;
    this.#inFlight.push({ sequence, bytes, sent: now, expected });
    this.#inFlightBytes += bytes;
    this.#lastSequence = sequence;
    this.#frameBytes = this.#frameBytes ? 0.9 * this.#frameBytes + 0.1 * bytes : bytes;
    this.#recent.push({ time: now, bytes });
    while (now - this.#recent[0].time > 1) this.#recent.shift();
  }

  /**
   * Records the acknowledgement of all frames up to a number.
   *
   * @param {number} sequence
   * @param {number} now
   * @param {number} [processing] The time that the receiver had the last one.
   */
  acknowledged(sequence, now, processing = 0) {
    const { last, bytes } = this.#remove(sequence);
    if (!last) return;
    // Rises at once, and falls slowly.
    this.#processing = Math.max(processing, 0.9 * this.#processing + 0.1 * processing);
    const delay = Math.max(0, now - last.sent - processing);
    this.#recordRoundTrip(delay, now);
    const excess = delay - this.#roundTrip - last.expected;
    const gap = now - (this.#acknowledgements.at(-1)?.time ?? now);
    this.#recordDelivered(bytes, delay, now);
    if (excess > CONGESTED_EXCESS) {
      // Frames that arrive together have waited for a lost packet, not for the link.
      if (bytes * 8 > BURST_FACTOR * this.#bitRate * gap) this.#lastBurst = now;
      this.#recordExcess(last, delay, now);
    } else {
      this.#congestedSince = null;
      if (excess < CLEAR_EXCESS) this.#resetFalls();
      if (now - (this.#refusals.at(-1) ?? -Infinity) < CALM_GROWTH) {
        this.#limitToDelivered(excess > CLEAR_EXCESS, now);
      } else if (excess < -MARGIN * last.expected) {
        this.#grow(Math.min(0.1, gap), now);
      }
    }
    this.#levels.choose(this.#bitRate, now);
  }

  /**
   * Records that frames up to a number arrived, and were dropped: their bytes count as delivered,
   * and their delay tells nothing.
   *
   * @param {number} sequence
   * @param {number} now
   */
  discarded(sequence, now) {
    const { last, bytes } = this.#remove(sequence);
    const roundTrip = Number.isFinite(this.#roundTrip) ? this.#roundTrip : 0;
    if (last) this.#recordDelivered(bytes, roundTrip, now);
  }

  /** @param {number} bytes @param {number} delay @param {number} now */
  #recordDelivered(bytes, delay, now) {
    const acknowledgements = this.#acknowledgements;
    acknowledgements.push({ time: now, bytes });
    // One from before remains: its time is the beginning.
    const measurement = Math.max(MEASUREMENT_SECONDS, MEASUREMENT_ROUND_TRIPS * delay);
    while (acknowledgements.length > 2 && now - acknowledgements[1].time > measurement) {
      acknowledgements.shift();
    }
  }

  /**
   * Removes the frames up to a number.
   *
   * @param {number} sequence
   * @returns {{last?: SentFrame, bytes: number}} The last one, and the size of all.
   */
  #remove(sequence) {
    const kept = this.#inFlight.findIndex((frame) => frame.sequence > sequence);
    const removed = this.#inFlight.splice(0, kept < 0 ? this.#inFlight.length : kept);
    const bytes = removed.reduce((sum, frame) => sum + frame.bytes, 0);
    this.#inFlightBytes -= bytes;
    return { last: removed.at(-1), bytes };
  }

  // The window

  /** The shortest round trip; infinite if it is unknown. */
  get #roundTrip() {
    return Math.min(this.#older, this.#newer);
  }

  /** The shortest time from a frame to its acknowledgement. */
  get #shortestTime() {
    return (Number.isFinite(this.#roundTrip) ? this.#roundTrip : 0.1) + this.#processing;
  }

  /** The bytes that may be without acknowledgement. */
  get #window() {
    const { framerate } = this.#levels.current;
    const bytes = this.#bitRate / 8 * (this.#shortestTime + SLACK / framerate);
    const frames = FLOOR_FRAMES + this.#shortestTime * framerate;
    return Math.max(bytes, Math.min(frames * this.#nextBytes, FLOOR_BYTES));
  }

  /** The window while acknowledgements are late: the bytes on the way, with a short queue. */
  get #narrowWindow() {
    const rate = this.#bitRate / 8;
    const bytes = Math.max(rate * this.#shortestTime, Math.min(rate * LATE_SECONDS, LATE_BYTES));
    return Math.min(bytes, this.#window);
  }

  /** The size that the next frame may have. Encoders meet their rate over several frames. */
  get #nextBytes() {
    const mean = this.#bitRate / 8 / this.#levels.current.framerate;
    return 1.2 * (this.#frameBytes ? Math.min(mean, this.#frameBytes) : mean);
  }

  // The bit rate

  #resetFalls() {
    this.#falls = { count: 0, bitRate: 0, sequence: 0, shortest: Infinity };
  }

  /** @param {number} delay @param {number} now */
  #recordRoundTrip(delay, now) {
    if (Number.isFinite(this.#newer) && now - this.#since < MEMORY) {
      this.#newer = Math.min(this.#newer, delay);
    } else {
      [this.#older, this.#newer, this.#since] = [this.#newer, delay, now];
    }
  }

  /** Whether the encoder has used the bit rate in the last second. */
  get #isUsed() {
    const [first] = this.#recent;
    if (!first) return false;
    const bytes = this.#recent.reduce((sum, frame) => sum + frame.bytes, 0);
    // The last frame's own interval has not passed yet.
    const last = /** @type {{time: number}} */ (this.#recent.at(-1));
    const time = last.time - first.time + 1 / this.#levels.current.framerate;
    return bytes * 8 >= USED * this.#bitRate * Math.max(time, 0.2);
  }

  /**
   * Returns the acknowledged bits per second in the last time of measurement.
   *
   * @param {number} now
   */
  #deliveredRate(now) {
    const [first, ...later] = this.#acknowledgements;
    if (!first) return 0;
    const bytes = later.reduce((sum, each) => sum + each.bytes, 0);
    return bytes * 8 / Math.max(now - first.time, PERSISTENCE_SECONDS);
  }

  /** @param {number} elapsed @param {number} now */
  #grow(elapsed, now) {
    if (this.#congestion && now - this.#congestion.time > CALM_CONGESTION) this.#congestion = null;
    if (!this.#isUsed) return;
    const isNear = this.#congestion
      && Math.abs(this.#bitRate / this.#congestion.rate - 0.9) < 0.2;
    const growth = isNear ? GROWTH_NEAR : GROWTH_FREE;
    this.#bitRate = Math.min(this.target.bitrate, this.#bitRate * (1 + growth * elapsed));
  }

  /**
   * Lowers the bit rate if the window often has no room: the queue then hides in the shortest round
   * trip.
   *
   * @param {boolean} hasQueue
   * @param {number} now
   */
  #limitToDelivered(hasQueue, now) {
    const rate = this.#deliveredRate(now);
    if (this.#refusals.length < MAX_REFUSALS || now - this.#lastBurst <= 1) return;
    if (rate >= (hasQueue ? 1 : 0.93) * this.#bitRate) return;
    this.#refusals = [];
    this.#fall(Math.max(0.9 * rate, 0.7 * this.#bitRate), rate, now);
  }

  /**
   * Lowers the bit rate if the excess persists.
   *
   * @param {SentFrame} frame
   * @param {number} delay
   * @param {number} now
   */
  #recordExcess(frame, delay, now) {
    const since = this.#congestedSince ??= now;
    const falls = this.#falls;
    if (falls.count && frame.sequence <= falls.sequence) return;
    falls.shortest = Math.min(falls.shortest, delay);
    const persistence = Math.max(PERSISTENCE_ROUND_TRIPS * this.#roundTrip, PERSISTENCE_SECONDS);
    if (now - since < persistence || now - this.#lastBurst <= BURST_SECONDS) return;
    if (falls.count >= MAX_FALLS) {
      // The window was narrow, so the queue is short: this is the path.
      [this.#older, this.#newer, this.#since] = [Infinity, falls.shortest, now];
      this.#bitRate = Math.max(this.#bitRate, DRAIN * falls.bitRate);
      this.#resetFalls();
      this.#congestedSince = this.#congestion = null;
      return;
    }
    if (!falls.count) falls.bitRate = this.#bitRate;
    falls.count += 1;
    falls.sequence = this.#lastSequence;
    falls.shortest = Infinity;
    const rate = this.#deliveredRate(now);
    const isCarried = rate > 0.9 * this.#bitRate;
    this.#fall(isCarried ? 0.95 * this.#bitRate : DRAIN * rate, rate, now);
  }

  /** @param {number} bitRate @param {number} delivered @param {number} now */
  #fall(bitRate, delivered, now) {
    // A rate of 0 near which nothing grows.
    this.#congestion = { rate: Math.max(delivered, 1), time: now };
    const lowest = Math.min(this.#minBitRate, this.target.bitrate);
    this.#bitRate = Math.max(lowest, Math.min(this.#bitRate, bitRate));
  }
}

/** The sizes and frame rates for falling bit rates: first smaller pictures, then fewer. */
class Levels {
  /** @type {{target: EncoderTarget, lowest: number}[]} The levels, and the bit rates below which
   *   the next one looks better. */
  #levels;
  #index = 0;
  /** @type {number|null} The time since which the bit rate suffices for a larger level. */
  #sufficientSince = null;

  /** @param {EncoderTarget} target */
  constructor(target) {
    const framerate = Math.max(1, target.framerate);
    const rate = Math.max(1, target.width * target.height) * framerate;
    // The client may wish fewer bits; its own size is then right for half of them.
    const bits = Math.min(BITS_PER_PIXEL, target.bitrate / rate / 2);
    // Video with subsampled chroma has even sizes.
    const even = (/** @type {number} */ size) => Math.max(2, Math.floor(size / 2) * 2);
    const steps = [...SCALES.map((scale) => [scale, 1]),
      ...FRAME_RATES.map((frames) => [SCALES[SCALES.length - 1], frames])];
    this.#levels = steps.map(([scale, frames]) => {
      const width = scale < 1 ? even(target.width * scale) : target.width;
      const height = scale < 1 ? even(target.height * scale) : target.height;
      const level = { bitrate: target.bitrate, width, height, framerate: framerate * frames };
      return { target: level, lowest: width * height * level.framerate * bits };
    });
  }

  get current() {
    return this.#levels[this.#index].target;
  }

  /**
   * Chooses the level of a bit rate: a smaller one at once, a larger one after a time.
   *
   * @param {number} bitRate
   * @param {number} now
   */
  choose(bitRate, now) {
    while (this.#index < this.#levels.length - 1 && bitRate < this.#levels[this.#index].lowest) {
      this.#index += 1;
      this.#sufficientSince = null;
    }
    if (!this.#index || bitRate < this.#levels[this.#index - 1].lowest * RISE_FACTOR) {
      this.#sufficientSince = null;
      return;
    }
    this.#sufficientSince ??= now;
    if (now - this.#sufficientSince >= RISE_SECONDS) {
      this.#index -= 1;
      this.#sufficientSince = null;
    }
  }
}
