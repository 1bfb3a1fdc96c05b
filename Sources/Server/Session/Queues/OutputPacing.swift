import DequeModule

/// The times at which a client is notified of superseded frames.
///
/// Every notice returns a credit, and every credit brings a frame. A client that sends ten times
/// the frames that can be filtered would be notified of nine superseded frames at once, send nine
/// more, and only be notified of those too. Credits of superseded frames therefore return at a rate
/// that follows the session's own: a number per finished frame. The client keeps the rest, where
/// the newest frame supersedes the others too.
package struct NoticePacer: Sendable {
  /// A longer interval counts as a pause.
  private static let maxInterval = Duration.seconds(1)

  private let noticesPerFrame: Int
  /// The moving average of the interval between finished frames.
  private var interval: Duration?
  private var lastFinished: Duration?
  private var lastNotice: Duration?

  /// - Parameter noticesPerFrame: The notices per finished frame, at least 1.
  package init(noticesPerFrame: Int) {
    self.noticesPerFrame = noticesPerFrame
  }

  /// Whether the rate is known: after two finished frames.
  package var isKnown: Bool { self.interval != nil }

  /// The earliest time of the next notice.
  package var next: Duration {
    guard let interval = self.interval, let last = self.lastNotice else { return .zero }
    return last + interval / self.noticesPerFrame
  }

  package mutating func recordFinished(at now: Duration) {
    if let lastFinished = self.lastFinished, now - lastFinished <= Self.maxInterval {
      let interval = now - lastFinished
      let average = self.interval ?? interval
      self.interval = average + (interval - average) / 4
    }
    self.lastFinished = now
  }

  package mutating func recordNotice(at now: Duration) {
    self.lastNotice = now
  }
}

/// Counts the sent pictures that are not acknowledged.
///
/// The transport's flow control counts bytes, and queues seconds of small pictures for a client
/// that does not keep up. A client that acknowledges never has more pictures in flight than it
/// requested; of encoded video also not more bytes than its link carries.
package struct OutputWindow: ~Copyable {
  private let size: Int?
  private var unacknowledged: Deque<UInt64> = []
  /// Adapts an encoder to the acknowledgements, once a picture was encoded.
  private var rates: EncoderRateController?

  /// - Parameter size: The pictures that may be unacknowledged. `nil` disables the limit, for
  ///   clients that do not acknowledge.
  package init(size: Int?) {
    self.size = size
  }

  /// Returns whether a picture may be sent.
  package mutating func isOpen(at now: Duration) -> Bool {
    guard let size else { return true }
    return self.unacknowledged.count < size && self.rates?.maySend(at: now) ?? true
  }

  /// Returns the values to encode the next picture with: those that the link carries, if the client
  /// acknowledges, and otherwise the wished ones.
  package mutating func adapt(_ wished: EncoderTarget, at now: Duration) -> EncoderTarget {
    guard self.size != nil else { return wished }
    if let rates, rates.target == wished { return rates.current }
    if self.rates == nil {
      self.rates = EncoderRateController(target: wished)
    } else {
      self.rates?.setTarget(wished, at: now)
    }
    return self.rates?.current ?? wished
  }

  /// Records the size of the picture that was sent last.
  package mutating func recordEncoded(byteCount: Int, at now: Duration) {
    guard let sequence = self.unacknowledged.last else { return }
    self.rates?.sent(sequence: sequence, bytes: byteCount, at: now)
  }

  /// Records that a picture is sent.
  package mutating func send(_ sequence: UInt64) {
    if self.size != nil { self.unacknowledged.append(sequence) }
  }

  /// Records that a picture will not be sent after all.
  package mutating func withdraw(_ sequence: UInt64) {
    if self.unacknowledged.last == sequence { self.unacknowledged.removeLast() }
  }

  /// Records that the client has consumed a picture and all before it. Ignores numbers that were
  /// never sent.
  package mutating func acknowledge(_ sequence: UInt64, at now: Duration) {
    self.rates?.acknowledged(through: sequence, at: now)
    while let first = self.unacknowledged.first, first <= sequence {
      self.unacknowledged.removeFirst()
    }
  }
}
