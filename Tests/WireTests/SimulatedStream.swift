import SidelightWire

/// A stream of encoded frames over a simulated TCP connection: a link with a rate, a delay and
/// lost packets, and an encoder that follows the controller. Deterministic.
struct SimulatedStream {
  /// A frame that was sent.
  struct Frame {
    var captured: Double
    var arrived: Double
    var bytes: Double
    /// The values that it was encoded with.
    var target: EncoderTarget

    var age: Double { self.arrived - self.captured }
  }

  /// The link's bits per second at a time.
  var rate: (Double) -> Double
  /// The time of an empty packet there and back.
  var roundTrip = 0.05
  /// The part of the packets that is lost.
  var loss = 0.0
  /// The part of its bit rate that the encoder uses at a time: less than 1 in a quiet scene.
  var activity: (Double) -> Double = { _ in 1 }
  /// The frames between two key frames.
  var keyFrameInterval = Int.max
  /// The seconds that the receiver processes a frame sent at a time. Acknowledgements report them.
  var processing: (Double) -> Double = { _ in 0 }
  /// The longest additional time of an acknowledgement: a result has its own time on the way back.
  var jitter = 0.0
  /// Additional time on the way, from a time on.
  var detour: (from: Double, seconds: Double) = (.infinity, 0)

  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15
  /// The time at which the link has sent everything.
  private var free = 0.0
  private var lastArrival = 0.0

  init(rate: @escaping (Double) -> Double) { self.rate = rate }

  /// Runs the stream.
  ///
  /// - Returns: The frames, and the number of captured ones.
  mutating func run(
    _ controller: inout EncoderRateController, seconds: Double
  ) -> (frames: [Frame], captured: Int) {
    var frames: [Frame] = []
    var acknowledgements: [(time: Double, sequence: Int, processing: Double)] = []
    var (captured, nextCapture) = (0, 0.0)
    var waiting: Double?
    while true {
      let acknowledgement = acknowledgements.first?.time ?? .infinity
      let now = min(acknowledgement, nextCapture)
      guard now < seconds else { return (frames, captured) }
      if now == acknowledgement {
        let first = acknowledgements.removeFirst()
        controller.acknowledged(
          through: UInt64(first.sequence), at: .seconds(now),
          processing: .seconds(first.processing))
      } else {
        waiting = now
        captured += 1
        nextCapture += 1 / controller.current.frameRate
      }
      // The newest picture waits, and is encoded when it may be sent.
      guard let capture = waiting, controller.maySend(at: .seconds(now)) else { continue }
      waiting = nil
      let target = controller.current
      let mean = Double(target.bitRate) / 8 / target.frameRate
      let isKey = frames.count.isMultiple(of: self.keyFrameInterval)
      let bytes = mean * self.activity(now) * (isKey ? 5 : 0.8 + 0.4 * self.nextRandom())
      controller.sent(sequence: UInt64(frames.count), bytes: Int(bytes), at: .seconds(now))
      let arrival = self.transfer(bytes, at: now)
      let processing = self.processing(now)
      var acknowledged = arrival + self.roundTrip / 2 + 0.005 + processing
      if self.jitter > 0 {
        acknowledged += self.jitter * self.nextRandom()
        acknowledged = max(acknowledged, acknowledgements.last?.time ?? now)
      }
      acknowledgements.append((acknowledged, frames.count, processing))
      frames.append(Frame(captured: capture, arrived: arrival, bytes: bytes, target: target))
    }
  }

  /// Returns the time at which bytes have arrived, in order.
  private mutating func transfer(_ bytes: Double, at now: Double) -> Double {
    var (left, time) = (bytes * 8, max(self.free, now))
    while left > 0 {
      // Steps at which the rate may change.
      let step = 0.001
      left -= self.rate(time) * step
      time += step + (left < 0 ? left / self.rate(time) : 0)
    }
    self.free = time
    var arrival = time + self.roundTrip / 2
    if time >= self.detour.from { arrival += self.detour.seconds }
    let packets = Int(bytes / 1400) + 1
    for packet in 0 ..< packets where self.nextRandom() < self.loss {
      // The packets behind a lost one report it; a lost last packet is missed after a time.
      var recovery = self.roundTrip * (packet < packets - 1 ? 1.1 : 2.2)
      if self.nextRandom() < self.loss { recovery += 0.2 + self.roundTrip }
      arrival = max(arrival, time + self.roundTrip / 2 + recovery)
    }
    self.lastArrival = max(self.lastArrival, arrival)
    return self.lastArrival
  }

  private mutating func nextRandom() -> Double {
    self.random ^= self.random << 13
    self.random ^= self.random >> 7
    self.random ^= self.random << 17
    return Double(self.random >> 11) / 9_007_199_254_740_992
  }
}
