package import SidelightWire

/// Follows gRPC's framing (one byte of flags, four of length, the message) through the pieces in
/// which HTTP/2 delivers it, without keeping messages.
package struct MessageScanner: Sendable {
  /// Why a message is not accepted.
  package enum Finding: Hashable {
    /// It announces so many bytes.
    case tooLong(Int)
    /// It is compressed, or has flags that mean nothing.
    case compressed
    /// It has too many fields, or messages in messages.
    case tooComplex(ProtobufBounds.Fault)
  }

  private let maxBytes: Int
  private let mayBeCompressed: Bool
  private let maxFields: Int
  private let shape: MessageShape?
  private var prefix: (bytes: UInt64, count: Int) = (0, 0)
  private var fields: ProtobufBounds?

  private var length = 0

  /// Bytes that a message announced that has not come to its end; 0 between messages.
  package var unfinishedBytes: Int { self.remaining > 0 ? self.length : 0 }

  /// Bytes of the message that have not come yet.
  package private(set) var remaining = 0

  /// - Parameters:
  ///   - maxBytes: The most bytes of a message; `.max` for any.
  ///   - mayBeCompressed: Whether flags do not matter.
  ///   - shape: What messages are; `nil` if their fields are not to be counted.
  ///   - maxFields: The most fields of a message.
  package init(maxBytes: Int, mayBeCompressed: Bool, shape: MessageShape?, maxFields: Int) {
    self.maxBytes = maxBytes
    self.mayBeCompressed = mayBeCompressed
    self.shape = shape
    self.maxFields = maxFields
  }

  /// Whether a message has begun that has not come to its end.
  package var isWithinMessage: Bool { self.remaining > 0 || self.prefix.count > 0 }

  /// Moves over the bytes that came.
  ///
  /// - Returns: What is wrong with the first message that is not accepted.
  package mutating func scan(_ bytes: Span<UInt8>) -> Finding? {
    var index = 0
    while index < bytes.count {
      if self.remaining > 0 {
        let count = min(self.remaining, bytes.count - index)
        do throws(ProtobufBounds.Fault) {
          try self.fields?.scan(bytes.extracting(index ..< index + count))
        } catch {
          return .tooComplex(error)
        }
        self.remaining -= count
        index += count
        continue
      }
      self.prefix.bytes = self.prefix.bytes << 8 | UInt64(bytes[index])
      self.prefix.count += 1
      index += 1
      guard self.prefix.count == 5 else { continue }
      let (flags, length) = (self.prefix.bytes >> 32, Int(self.prefix.bytes & 0xFFFF_FFFF))
      self.prefix = (0, 0)
      guard flags == 0 || self.mayBeCompressed else { return .compressed }
      guard length <= self.maxBytes else { return .tooLong(length) }
      self.remaining = length
      self.length = length
      self.fields = self.shape.map {
        ProtobufBounds(shape: $0, length: length, maxFields: self.maxFields)
      }
    }
    return nil
  }
}
