const MASK = (1n << 64n) - 1n;

/**
 * A stream of encoded frames over a simulated TCP connection: a link with a rate, a delay and lost
 * packets, and an encoder that follows the controller. A port of
 * Tests/WireTests/SimulatedStream.swift, with the same random numbers.
 */
export class SimulatedStream {
  captured = 0;
  frames = [];
  #random = 0x9E37_79B9_7F4A_7C15n;
  /** The time at which the link has sent everything. */
  #free = 0;
  #lastArrival = 0;

  /**
   * `rate` returns the link's bits per second at a time, `activity` the part of its bit rate that
   * the encoder uses; `roundTrip` is the time of an empty packet there and back in seconds, `loss`
   * the part of the packets that is lost, `keyFrameInterval` in frames. `processing` returns the
   * seconds that the receiver processes a frame sent at a time, which acknowledgements report, and
   * `jitter` is the longest additional time of an acknowledgement.
   */
  constructor(rate, options = {}) {
    const defaults = {
      roundTrip: 0.05, loss: 0, activity: () => 1, keyFrameInterval: Infinity, processing: () => 0,
      jitter: 0,
    };
    Object.assign(this, { rate, ...defaults, ...options });
  }

  /** Runs the stream; returns the frames that were sent. */
  run(controller, seconds) {
    const acknowledgements = [];
    let nextCapture = 0, waiting = null;
    while (true) {
      const acknowledged = acknowledgements[0]?.time ?? Infinity;
      const now = Math.min(acknowledged, nextCapture);
      if (now >= seconds) return this.frames;
      if (now === acknowledged) {
        const { sequence, processing } = acknowledgements.shift();
        controller.acknowledged(sequence, now, processing);
      } else {
        waiting = now;
        this.captured += 1;
        nextCapture += 1 / controller.current.framerate;
      }
      // The newest picture waits, and is encoded when it may be sent.
      if (waiting === null || !controller.maySend(now)) continue;
      const target = controller.current;
      const sequence = this.frames.length;
      const isKey = sequence % this.keyFrameInterval === 0;
      const bytes = target.bitrate / 8 / target.framerate * this.activity(now)
        * (isKey ? 5 : 0.8 + 0.4 * this.#nextRandom());
      controller.sent(sequence, Math.floor(bytes), now);
      const arrived = this.#transfer(bytes, now);
      const processing = this.processing(now);
      let time = arrived + this.roundTrip / 2 + 0.005 + processing;
      if (this.jitter) {
        time = Math.max(time + this.jitter * this.#nextRandom(), acknowledgements.at(-1)?.time ?? now);
      }
      acknowledgements.push({ time, sequence, processing });
      this.frames.push({ captured: waiting, age: arrived - waiting, target });
      waiting = null;
    }
  }

  /** Returns the time at which bytes have arrived, in order. */
  #transfer(bytes, now) {
    let left = bytes * 8, time = Math.max(this.#free, now);
    while (left > 0) {
      // Steps at which the rate may change.
      const step = 0.001;
      left -= this.rate(time) * step;
      time += step + (left < 0 ? left / this.rate(time) : 0);
    }
    this.#free = time;
    let arrival = time + this.roundTrip / 2;
    const packets = Math.floor(bytes / 1400) + 1;
    for (let packet = 0; packet < packets; packet += 1) {
      if (this.#nextRandom() >= this.loss) continue;
      // The packets behind a lost one report it; a lost last packet is missed later.
      let recovery = this.roundTrip * (packet < packets - 1 ? 1.1 : 2.2);
      if (this.#nextRandom() < this.loss) recovery += 0.2 + this.roundTrip;
      arrival = Math.max(arrival, time + this.roundTrip / 2 + recovery);
    }
    this.#lastArrival = Math.max(this.#lastArrival, arrival);
    return this.#lastArrival;
  }

  #nextRandom() {
    this.#random ^= this.#random << 13n & MASK;
    this.#random ^= this.#random >> 7n;
    this.#random ^= this.#random << 17n & MASK;
    return Number(this.#random >> 11n) / 9_007_199_254_740_992;
  }
}
