package import SidelightWire

/// The limits on a call's inbound messages, checked as their segments arrive. It keeps no messages.
package struct MessageScanner: Sendable {
  /// The reason why a message is not accepted.
  package enum Finding: Hashable {
    /// The message announces this many bytes.
    case tooLong(Int)
    /// The message is compressed, or has flags without a meaning.
    case compressed
    /// The message has too many fields, or is nested too deeply.
    case tooComplex(ProtobufBounds.Violation)
  }

  private let maxBytes: Int
  private let mayBeCompressed: Bool
  private let maxFields: Int
  private let shape: MessageShape?
  private var fields: ProtobufBounds?
  private var length = 0

  /// The announced bytes of a message that has not ended; 0 between messages.
  package var unfinishedBytes: Int { self.remaining > 0 ? self.length : 0 }

  /// The bytes of the message that have not been received.
  package private(set) var remaining = 0

  package private(set) var isWithinMessage = false

  /// - Parameters:
  ///   - maxBytes: The maximum size of a message in bytes; `.max` disables the limit.
  ///   - mayBeCompressed: Whether flags are ignored.
  ///   - shape: The shape of the messages; `nil` disables the count of fields.
  ///   - maxFields: The maximum number of fields per message.
  package init(maxBytes: Int, mayBeCompressed: Bool, shape: MessageShape?, maxFields: Int) {
    self.maxBytes = maxBytes
    self.mayBeCompressed = mayBeCompressed
    self.shape = shape
    self.maxFields = maxFields
  }

  /// Checks the next bytes of the stream.
  ///
  /// - Returns: The reason why the first message that is not accepted is refused; `nil` if all are
  ///   accepted.
  package mutating func scan(_ segments: [MessageSegment], of bytes: Span<UInt8>) -> Finding? {
    var index = 0
    for segment in segments {
      if segment.completesPrefix, let prefix = segment.prefix {
        // The scanner doesn't follow a refused message.
        self.isWithinMessage = false
        guard prefix.flags == 0 || self.mayBeCompressed else { return .compressed }
        guard prefix.length <= self.maxBytes else { return .tooLong(prefix.length) }
        self.remaining = prefix.length
        self.length = prefix.length
        self.fields = self.shape.map {
          ProtobufBounds(shape: $0, length: prefix.length, maxFields: self.maxFields)
        }
      }
      let content = index + segment.prefixByteCount ..< index + segment.byteCount
      if !content.isEmpty {
        do throws(ProtobufBounds.Violation) {
          try self.fields?.scan(bytes.extracting(content))
        } catch {
          return .tooComplex(error)
        }
        self.remaining -= content.count
      }
      self.isWithinMessage = !segment.isLast
      index += segment.byteCount
    }
    return nil
  }
}
