package import NIOCore

/// Finds the PINGs that ask for an answer in what a client sends, whatever pieces it comes in, and counts
/// the calls that it gives up.
package struct HTTP2FrameScanner {
  /// A part of what came, in order.
  package enum Part: Hashable {
    /// Anything else, as it came.
    case bytes(ByteBuffer)
    /// A PING, taken out.
    case ping(UInt64)
  }

  /// RST_STREAM frames so far.
  package private(set) var resetCount = 0

  private static let headBytes = 9
  private static let pingBytes = 17

  /// Bytes that need no look: the preface at first, then what is left of a frame.
  private var passing = 24
  /// The beginning of a frame that may be a PING.
  private var held = ByteBuffer()

  package init() {}

  /// Takes apart what came. A frame's head, and a PING, are held back until they are whole.
  package mutating func scan(_ bytes: ByteBuffer) -> [Part] {
    var bytes = bytes
    var parts: [Part] = []
    self.complete(from: &bytes, into: &parts)
    // A run of bytes that are no PING goes on as one.
    var run = bytes.readerIndex
    var place = run
    func flush() {
      guard place > run, let slice = bytes.getSlice(at: run, length: place - run) else { return }
      parts.append(.bytes(slice))
    }
    while place < bytes.writerIndex {
      let left = bytes.writerIndex - place
      if self.passing > 0 {
        let count = min(self.passing, left)
        self.passing -= count
        place += count
      } else if let length = self.payloadBytes(of: bytes, at: place) {
        self.passing = Self.headBytes + length
      } else if left >= Self.pingBytes {
        flush()
        parts.append(.ping(Self.opaque(of: bytes, at: place)))
        place += Self.pingBytes
        run = place
      } else {
        flush()
        self.held = bytes.getSlice(at: place, length: left) ?? ByteBuffer()
        return parts
      }
    }
    flush()
    return parts
  }

  /// Adds to what is held until it is known what it is.
  private mutating func complete(from bytes: inout ByteBuffer, into parts: inout [Part]) {
    while self.held.readableBytes > 0, bytes.readableBytes > 0 {
      let wanted = self.held.readableBytes < Self.headBytes ? Self.headBytes : Self.pingBytes
      let count = min(wanted - self.held.readableBytes, bytes.readableBytes)
      if var piece = bytes.readSlice(length: count) { self.held.writeBuffer(&piece) }
      if let length = self.payloadBytes(of: self.held, at: self.held.readerIndex) {
        self.passing = length
        parts.append(.bytes(self.held))
        self.held = ByteBuffer()
      } else if self.held.readableBytes == Self.pingBytes {
        parts.append(.ping(Self.opaque(of: self.held, at: self.held.readerIndex)))
        self.held = ByteBuffer()
      }
    }
  }

  /// Looks at a frame's head. Returns what follows it if it is no PING; `nil` if it is one, or may become one.
  private mutating func payloadBytes(of bytes: ByteBuffer, at place: Int) -> Int? {
    guard bytes.writerIndex - place >= Self.headBytes,
      let head = bytes.getInteger(at: place, as: UInt32.self),
      let flags = bytes.getInteger(at: place + 4, as: UInt8.self)
    else { return nil }
    let (length, kind) = (Int(head >> 8), head & 0xFF)
    if kind == 3 { self.resetCount += 1 }
    return kind == 6 && length == 8 && flags & 1 == 0 ? nil : length
  }

  private static func opaque(of bytes: ByteBuffer, at place: Int) -> UInt64 {
    bytes.getInteger(at: place + Self.headBytes) ?? 0
  }
}
