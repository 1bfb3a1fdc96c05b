import DequeModule

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
