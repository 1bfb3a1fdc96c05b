/// The values that an encoder of video is asked for.
public struct EncoderTarget: Sendable, Hashable {
  /// The bit rate in bits per second.
  public var bitRate: Int
  /// The width in pixels.
  public var width: Int
  /// The height in pixels.
  public var height: Int
  /// The frames per second.
  public var frameRate: Double

  /// Creates values.
  public init(bitRate: Int, width: Int, height: Int, frameRate: Double) {
    self.bitRate = bitRate
    self.width = width
    self.height = height
    self.frameRate = frameRate
  }
}

/// Adapts an encoder to a connection: bit rate, then size, then frame rate follow what the peer
/// acknowledges, and a window in bytes bounds the age of frames. A pure state machine.
///
/// A connection that carries the bit rate delays a frame by at most the shortest round trip plus
/// the time that a link of this rate would take for the bytes that wait and for the frame (a leaky
/// bucket). A longer delay is *excess*: the link is slower, or a lost packet stops TCP. After a lost
/// packet the frames behind it arrive together, so the bit rate falls only if the excess persists
/// between acknowledgements. It then falls below the delivered rate, and once per round trip. If
/// that does not help, the path has become longer, and the round trip is measured again.
///
/// Without excess it grows by up to a half per second, but only while the encoder uses it and the
/// window has room: a quiet scene is not evidence that the link carries more.
package struct EncoderRateController: Sendable {
  /// The excess from which the link may be slower than the bit rate, in seconds.
  private static let congestedExcess = 0.05
  /// The rate at which the bucket leaks, relative to the bit rate. A bucket that leaks as fast as it
  /// is filled is never empty.
  private static let leak = 1.25
  /// The largest excess without a queue.
  private static let clearExcess = 0.01
  /// The part of the expected delay by which frames must arrive earlier for the bit rate to grow:
  /// the rest of the link lets queues drain.
  private static let margin = 0.15
  /// The part of the round trip, and the time, for which the excess must persist before the bit
  /// rate falls.
  private static let persistence = (roundTrips: 0.75, seconds: 0.03)
  /// The multiple of the bit rate at which frames arrive together, and the time for which that
  /// shows that the link is not the limit.
  private static let burst = (factor: 1.5, seconds: 0.3)
  /// The time over which the delivered rate is measured.
  private static let measurement = (roundTrips: 2.0, seconds: 0.25)
  /// The time after which the oldest frame without acknowledgement makes the window narrow, in
  /// addition to the excess that is allowed.
  private static let patience = 0.08
  /// The frame intervals that the window covers after the shortest round trip: the transfer
  /// of a frame, the transfer of its result, and the next frame.
  private static let slack = 2.2
  /// The frames beyond a round trip for which the window has room, because a lost packet stops the
  /// acknowledgements for a while, up to a size that a slow link delivers soon.
  private static let floor = (frames: 6.0, bytes: 64_000.0)
  /// The time for which the window has room while acknowledgements are late, up to a size: small
  /// frames do not stop for a lost packet.
  private static let late = (seconds: 0.2, bytes: 24_000.0)
  /// The part of the delivered rate to which the bit rate falls: the queue then drains.
  private static let drain = 0.85
  /// The relative growth per second, and near the rate that was too high.
  private static let growth = (free: 0.5, near: 0.1)
  /// The part of the bit rate that the encoder must have used in the last second.
  private static let used = 0.7
  /// The time after which a shortest round trip is forgotten, because the path may have changed.
  private static let memory = 10.0
  /// The time without refusals after which the bit rate grows, and the time after which the rate
  /// that was too high is forgotten.
  private static let calm = (growth: 0.2, congestion: 4.0)
  /// The refusals in a second from which the bit rate falls.
  private static let maxRefusals = 4
  /// The falls in a row after which the round trip is measured again.
  private static let maxFalls = 3

  /// A frame without acknowledgement.
  private struct InFlight {
    var sequence: UInt64
    var bytes: Double
    var sent: Double
    /// The delay over a link of the bit rate, without its shortest round trip.
    var expected: Double
  }

  /// The falls of the bit rate since the last acknowledgement without excess.
  private struct Falls {
    var count = 0
    /// The bit rate before the first.
    var bitRate = 0.0
    /// The last frame that was sent before the last fall: earlier ones say nothing about it.
    var sequence: UInt64 = 0
    /// The shortest delay of later frames.
    var shortest = Double.infinity
  }

  /// The values that the client wishes, which are the maximum.
  package private(set) var target: EncoderTarget
  private let minBitRate: Double
  private var bitRate: Double
  private var levels: EncoderLevels

  private var inFlight: [InFlight] = []
  private var inFlightBytes = 0.0
  /// The bytes that wait for a link of the bit rate, at the time of the last frame.
  private var bucket = (bytes: 0.0, time: 0.0)
  /// The frames of the last second.
  private var recent: [(time: Double, bytes: Double)] = []
  private var recentBytes = 0.0
  private var frameBytes = 0.0

  private var shortest: (older: Double?, newer: Double?, since: Double) = (nil, nil, 0)
  /// The acknowledgements of the last time of measurement.
  private var acknowledgements: [(time: Double, bytes: Double)] = []
  /// The time of the first acknowledgement with excess, without a later one that has none.
  private var congestedSince: Double?
  /// The time at which late frames arrived together.
  private var lastBurst = -Double.infinity
  private var falls = Falls()
  /// The delivered rate when the bit rate fell last, and that time.
  private var congestion: (rate: Double, time: Double)?
  /// The times at which the window had no room for a frame, in the last second.
  private var refusals: [Double] = []
  private var lastSequence: UInt64 = 0
  /// The time that the receiver has frames before it acknowledges them.
  private var processing = 0.0

  /// - Parameters:
  ///   - target: The wished values, which are the maximum.
  ///   - minBitRate: The lowest bit rate in bits per second.
  ///   - startBitRate: The first bit rate.
  package init(target: EncoderTarget, minBitRate: Int = 100_000, startBitRate: Int = 2_000_000) {
    self.target = target
    self.minBitRate = Double(min(minBitRate, target.bitRate))
    self.bitRate = max(Double(min(startBitRate, target.bitRate)), self.minBitRate)
    self.levels = EncoderLevels(target)
    self.levels.choose(for: self.bitRate, at: 0)
  }

  /// The values to encode the next frame with.
  package var current: EncoderTarget {
    var current = self.levels.current
    current.bitRate = Int(self.bitRate)
    return current
  }

  /// Changes the wished values. A bit rate above the new one falls to it.
  package mutating func setTarget(_ target: EncoderTarget, at now: Duration) {
    self.target = target
    self.bitRate = min(self.bitRate, Double(target.bitRate))
    self.levels = EncoderLevels(target)
    self.levels.choose(for: self.bitRate, at: now / .seconds(1))
  }

  // MARK: Frames

  /// Returns whether another frame may be encoded and sent now. A frame that may not be sent is left
  /// out before it is encoded. Call it only with a frame: a refusal shows that the window is full.
  package mutating func maySend(at now: Duration) -> Bool {
    guard let oldest = self.inFlight.first else { return true }
    let now = now / .seconds(1)
    // Without an acknowledgement the oldest frame is at least this late.
    let late =
      now - oldest.sent - (self.roundTrip ?? .infinity) - oldest.expected - self.processing
    let isLate = self.congestedSince != nil || late > Self.congestedExcess + Self.patience
    guard self.inFlightBytes + self.nextBytes > (isLate ? self.narrowWindow : self.window) else {
      return true
    }
    self.refusals.removeAll { now - $0 > 1 }
    // A caller may ask for the same frame again.
    let interval = 1 / self.levels.current.frameRate
    if now - (self.refusals.last ?? -.infinity) > interval / 2 { self.refusals.append(now) }
    return false
  }

  /// Records a frame that is sent.
  ///
  /// - Parameters:
  ///   - sequence: Its sequence number, greater than those before.
  ///   - bytes: Its size.
  ///   - now: The time.
  package mutating func sent(sequence: UInt64, bytes: Int, at now: Duration) {
    let now = now / .seconds(1)
    let bytes = Double(bytes)
    let drained = Self.leak * (now - self.bucket.time) * self.bitRate / 8
    self.bucket = (max(0, self.bucket.bytes - drained) + bytes, now)
    self.inFlight.append(
      InFlight(
        sequence: sequence, bytes: bytes, sent: now,
        expected: self.bucket.bytes * 8 / self.bitRate))
    self.inFlightBytes += bytes
    self.lastSequence = sequence
    self.frameBytes = self.frameBytes == 0 ? bytes : 0.9 * self.frameBytes + 0.1 * bytes
    self.recent.append((now, bytes))
    self.recentBytes += bytes
    while let first = self.recent.first, now - first.time > 1 {
      self.recent.removeFirst()
      self.recentBytes -= first.bytes
    }
  }

  /// Records the acknowledgement of all frames up to a sequence number.
  ///
  /// - Parameters:
  ///   - sequence: The last acknowledged number.
  ///   - now: The time.
  ///   - processing: The time that the receiver had the last one.
  package mutating func acknowledged(
    through sequence: UInt64, at now: Duration, processing: Duration = .zero
  ) {
    let (now, processing) = (now / .seconds(1), processing / .seconds(1))
    let (frame, bytes) = self.remove(through: sequence)
    guard let last = frame else { return }
    // Rises at once, and falls slowly.
    self.processing = max(processing, 0.9 * self.processing + 0.1 * processing)
    let delay = max(0, now - last.sent - processing)
    self.recordRoundTrip(delay, at: now)
    let excess = delay - (self.roundTrip ?? delay) - last.expected
    let gap = now - (self.acknowledgements.last?.time ?? now)
    self.recordDelivered(bytes, delay, at: now)
    if excess > Self.congestedExcess {
      // Frames that arrive together have waited for a lost packet, not for the link.
      if bytes * 8 > Self.burst.factor * self.bitRate * gap { self.lastBurst = now }
      self.recordExcess(of: last, delay, at: now)
    } else {
      self.congestedSince = nil
      if excess < Self.clearExcess { self.falls = Falls() }
      if let refusal = self.refusals.last, now - refusal < Self.calm.growth {
        self.limitToDelivered(hasQueue: excess > Self.clearExcess, at: now)
      } else if excess < -Self.margin * last.expected {
        self.grow(for: min(0.1, gap), at: now)
      }
    }
    self.levels.choose(for: self.bitRate, at: now)
  }

  /// Records that frames up to a sequence number arrived, and were dropped: their bytes count as
  /// delivered, and their delay tells nothing.
  ///
  /// - Parameters:
  ///   - sequence: The last number.
  ///   - now: The time.
  package mutating func discarded(through sequence: UInt64, at now: Duration) {
    let (last, bytes) = self.remove(through: sequence)
    guard last != nil else { return }
    self.recordDelivered(bytes, self.roundTrip ?? 0, at: now / .seconds(1))
  }

  /// Records that frames up to a sequence number were not sent after all.
  package mutating func withdraw(through sequence: UInt64) {
    _ = self.remove(through: sequence)
  }

  /// Removes the frames up to a sequence number.
  ///
  /// - Returns: The last one, and the size of all.
  private mutating func remove(through sequence: UInt64) -> (last: InFlight?, bytes: Double) {
    var (last, bytes): (InFlight?, Double) = (nil, 0)
    while let first = self.inFlight.first, first.sequence <= sequence {
      self.inFlight.removeFirst()
      bytes += first.bytes
      last = first
    }
    self.inFlightBytes -= bytes
    return (last, bytes)
  }

  private mutating func recordDelivered(_ bytes: Double, _ delay: Double, at now: Double) {
    self.acknowledgements.append((now, bytes))
    // One from before remains: its time is the beginning.
    let measurement = max(Self.measurement.seconds, Self.measurement.roundTrips * delay)
    while self.acknowledgements.count > 2, now - self.acknowledgements[1].time > measurement {
      self.acknowledgements.removeFirst()
    }
  }

  // MARK: The window

  /// The shortest time from a frame to its acknowledgement.
  private var shortestTime: Double { (self.roundTrip ?? 0.1) + self.processing }

  /// The bytes that may be without acknowledgement.
  private var window: Double {
    let roundTrip = self.shortestTime
    let frameRate = self.levels.current.frameRate
    let bytes = self.bitRate / 8 * (roundTrip + Self.slack / frameRate)
    let frames = Self.floor.frames + roundTrip * frameRate
    return max(bytes, min(frames * self.nextBytes, Self.floor.bytes))
  }

  /// The window while acknowledgements are late: the bytes on the way, with a short queue.
  private var narrowWindow: Double {
    let rate = self.bitRate / 8
    let bytes = max(rate * self.shortestTime, min(rate * Self.late.seconds, Self.late.bytes))
    return min(bytes, self.window)
  }

  /// The size that the next frame may have. Encoders meet their bit rate over several frames.
  private var nextBytes: Double {
    let mean = self.bitRate / 8 / self.levels.current.frameRate
    return 1.2 * (self.frameBytes == 0 ? mean : min(mean, self.frameBytes))
  }

  // MARK: The bit rate

  private var roundTrip: Double? {
    switch (self.shortest.older, self.shortest.newer) {
    case (let older?, let newer?): min(older, newer)
    case (let older, let newer): newer ?? older
    }
  }

  private mutating func recordRoundTrip(_ delay: Double, at now: Double) {
    if let newer = self.shortest.newer, now - self.shortest.since < Self.memory {
      self.shortest.newer = min(newer, delay)
    } else {
      self.shortest = (self.shortest.newer, delay, now)
    }
  }

  /// Whether the encoder has used the bit rate in the last second.
  private var isUsed: Bool {
    guard let first = self.recent.first, let last = self.recent.last else { return false }
    // The last frame's own interval has not passed yet.
    let time = last.time - first.time + 1 / self.levels.current.frameRate
    return self.recentBytes * 8 >= Self.used * self.bitRate * max(time, 0.2)
  }

  /// The acknowledged bits per second in the last time of measurement.
  private func deliveredRate(at now: Double) -> Double {
    guard let first = self.acknowledgements.first else { return 0 }
    let bytes = self.acknowledgements.dropFirst().reduce(0) { $0 + $1.bytes }
    return bytes * 8 / max(now - first.time, Self.persistence.seconds)
  }

  private mutating func grow(for elapsed: Double, at now: Double) {
    if let congestion, now - congestion.time > Self.calm.congestion { self.congestion = nil }
    guard self.isUsed else { return }
    let isNear = self.congestion.map { abs(self.bitRate / $0.rate - 0.9) < 0.2 } ?? false
    let growth = isNear ? Self.growth.near : Self.growth.free
    self.bitRate = min(Double(self.target.bitRate), self.bitRate * (1 + growth * elapsed))
  }

  /// Lowers the bit rate if the window often has no room: the queue then hides in the shortest
  /// round trip.
  private mutating func limitToDelivered(hasQueue: Bool, at now: Double) {
    let rate = self.deliveredRate(at: now)
    guard self.refusals.count >= Self.maxRefusals, now - self.lastBurst > 1,
      rate < (hasQueue ? 1 : 0.93) * self.bitRate
    else { return }
    self.refusals = []
    self.fall(to: max(0.9 * rate, 0.7 * self.bitRate), delivered: rate, at: now)
  }

  /// Lowers the bit rate if the excess persists.
  private mutating func recordExcess(of frame: InFlight, _ delay: Double, at now: Double) {
    let since = self.congestedSince ?? now
    self.congestedSince = since
    guard frame.sequence > self.falls.sequence || self.falls.count == 0 else { return }
    self.falls.shortest = min(self.falls.shortest, delay)
    let roundTrip = self.roundTrip ?? delay
    let persistence = max(Self.persistence.roundTrips * roundTrip, Self.persistence.seconds)
    guard now - since >= persistence, now - self.lastBurst > Self.burst.seconds else { return }
    if self.falls.count >= Self.maxFalls {
      // The window was narrow, so the queue is short: this is the path.
      self.shortest = (nil, self.falls.shortest, now)
      self.bitRate = max(self.bitRate, Self.drain * self.falls.bitRate)
      (self.falls, self.congestedSince, self.congestion) = (Falls(), nil, nil)
      return
    }
    if self.falls.count == 0 { self.falls.bitRate = self.bitRate }
    self.falls.count += 1
    self.falls.sequence = self.lastSequence
    self.falls.shortest = .infinity
    let rate = self.deliveredRate(at: now)
    let isCarried = rate > 0.9 * self.bitRate
    self.fall(to: isCarried ? 0.95 * self.bitRate : Self.drain * rate, delivered: rate, at: now)
  }

  private mutating func fall(to bitRate: Double, delivered: Double, at now: Double) {
    self.congestion = (delivered, now)
    let lowest = min(self.minBitRate, Double(self.target.bitRate))
    self.bitRate = max(lowest, min(self.bitRate, bitRate))
  }
}

/// The sizes and frame rates for falling bit rates: first smaller pictures, then fewer.
private struct EncoderLevels: Sendable {
  private struct Level {
    var target: EncoderTarget
    /// The bit rate below which the next level looks better.
    var lowest: Double
  }

  private static let scales = [1, 0.75, 0.5, 0.375, 0.25]
  private static let frameRates = [0.5, 0.25]
  /// The bits per pixel below which a smaller picture looks better.
  private static let bitsPerPixel = 0.03
  /// A larger level needs this much more than its lowest bit rate, for this time: its key frame
  /// is large.
  private static let rise = (factor: 1.5, seconds: 2.0)

  private let levels: [Level]
  private var index = 0
  /// The time since which the bit rate suffices for a larger level.
  private var sufficientSince: Double?

  init(_ target: EncoderTarget) {
    let rate = Double(max(1, target.width * target.height)) * max(1, target.frameRate)
    // The client may wish fewer bits; its own size is then right for half of them.
    let bits = min(Self.bitsPerPixel, Double(target.bitRate) / rate / 2)
    var steps = Self.scales.map { (scale: $0, frames: 1.0) }
    steps += Self.frameRates.map { (scale: Self.scales[Self.scales.count - 1], frames: $0) }
    self.levels = steps.map { step in
      var level = target
      if step.scale < 1 {
        // Video with subsampled chroma has even sizes.
        level.width = max(2, Int(Double(target.width) * step.scale / 2) * 2)
        level.height = max(2, Int(Double(target.height) * step.scale / 2) * 2)
      }
      level.frameRate = max(1, target.frameRate) * step.frames
      let pixels = Double(level.width * level.height) * level.frameRate
      return Level(target: level, lowest: pixels * bits)
    }
  }

  var current: EncoderTarget { self.levels[self.index].target }

  /// Chooses the level of a bit rate: a smaller one at once, a larger one after a time.
  mutating func choose(for bitRate: Double, at now: Double) {
    while self.index < self.levels.count - 1, bitRate < self.levels[self.index].lowest {
      self.index += 1
      self.sufficientSince = nil
    }
    guard self.index > 0, bitRate >= self.levels[self.index - 1].lowest * Self.rise.factor else {
      self.sufficientSince = nil
      return
    }
    let since = self.sufficientSince ?? now
    self.sufficientSince = since
    guard now - since >= Self.rise.seconds else { return }
    self.index -= 1
    self.sufficientSince = nil
  }
}
