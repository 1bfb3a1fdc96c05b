import DequeModule

/// When a client is told of frames that gave way to newer ones.
///
/// Each notice returns a credit, and each credit brings a frame. A client that sends ten times what can be
/// made of its frames would be told at once of nine that gave way, and send nine more only to be told of
/// them. So the credits of such frames return at a pace that follows the session's own: so many for each
/// frame that is made. The rest stay with the client, where the newest takes the place of the others too.
package struct NoticePacer: Sendable {
  /// What takes longer was a pause.
  private static let maxInterval = Duration.seconds(1)

  private let noticesPerFrame: Int
  /// Between frames that were made, on average; later ones count for more.
  private var interval: Duration?
  private var lastFinished: Duration?
  private var lastNotice: Duration?

  /// - Parameter noticesPerFrame: Frames that are told of, while one is made; at least 1.
  package init(noticesPerFrame: Int) {
    self.noticesPerFrame = noticesPerFrame
  }

  /// Whether there is a pace to keep. There is none until two frames have been made.
  package var isKnown: Bool { self.interval != nil }

  /// When the next frame may be told of.
  package var next: Duration {
    guard let interval = self.interval, let last = self.lastNotice else { return .zero }
    return last + interval / self.noticesPerFrame
  }

  /// A frame that was made goes out.
  package mutating func recordFinished(at now: Duration) {
    if let lastFinished = self.lastFinished, now - lastFinished <= Self.maxInterval {
      let interval = now - lastFinished
      let average = self.interval ?? interval
      self.interval = average + (interval - average) / 4
    }
    self.lastFinished = now
  }

  /// The client is told of one that gave way.
  package mutating func recordNotice(at now: Duration) {
    self.lastNotice = now
  }
}

/// Counts pictures that a client was sent and has not acknowledged.
///
/// The transport's flow control counts bytes, and lets small pictures pile up seconds deep before a
/// client that does not keep up. A client that acknowledges is never sent more than it asked for.
package struct OutputWindow: ~Copyable {
  private let size: Int?
  private var unacknowledged: Deque<UInt64> = []

  /// - Parameter size: Pictures that may be unacknowledged; `nil` if the client does not acknowledge.
  package init(size: Int?) {
    self.size = size
  }

  /// Whether a picture may be sent.
  package var isOpen: Bool { self.size.map { self.unacknowledged.count < $0 } ?? true }

  /// A picture is sent.
  package mutating func send(_ sequence: UInt64) {
    if self.size != nil { self.unacknowledged.append(sequence) }
  }

  /// The client has consumed the picture with that number, and all before it. Numbers that were never
  /// sent do no harm.
  package mutating func acknowledge(_ sequence: UInt64) {
    while let first = self.unacknowledged.first, first <= sequence {
      self.unacknowledged.removeFirst()
    }
  }
}
