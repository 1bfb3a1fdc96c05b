package import NIOCore

/// An event in the frames that a client sends.
package enum WebSocketEvent: Equatable {
  /// A frame of a message begins. `messageBytes` are the bytes of the message up to its end.
  case frame(messageBytes: Int)
  /// A binary message is complete.
  case message(ByteBuffer)
  /// The text message `end`, which ends the client's messages.
  case end
  /// A ping, with the content of its answer.
  case ping(ByteBuffer)
  case pong
  /// The client closes the WebSocket.
  case close(WebSocketCloseCode?)
}

/// The reader of a client's frames (RFC 6455, 5). It checks a frame's head before it stores the
/// content, and copies every byte of a message once, which also removes its mask.
///
/// swift-nio's decoder waits for whole frames, and removes masks in a separate pass, byte by byte
/// (`docs/decisions/0038-websocket-transport.md`).
package struct WebSocketReader {
  /// The limits on a client.
  package struct Limits: Sendable {
    /// The maximum size of a message in bytes.
    package var maxMessageBytes: Int
    /// The maximum number of frames per message.
    package var maxFragments = 16384

    package init(maxMessageBytes: Int) {
      self.maxMessageBytes = maxMessageBytes
    }
  }

  /// The bytes of a long message that must have arrived before its memory is reserved, because a
  /// client may announce a message without sending it.
  private static let minReservingBytes = 64 << 10
  private static let endText = ByteBuffer(string: "end")

  private struct Message {
    var isText: Bool
    var bytes = ByteBuffer()
    /// The bytes that were read, whether they are stored or not.
    var length = 0
    var fragments = 0
  }

  private let limits: Limits
  /// The bytes of an incomplete head.
  private var headBytes: [UInt8] = []
  /// The frame whose content is being read.
  private var frame: WebSocketFrameHead?
  /// The bytes of its content that have been read.
  private var position = 0
  /// The message whose frames are being read.
  private var message: Message?
  /// The content of a control frame.
  private var control = ByteBuffer()
  private var hasEnded = false
  /// Whether the content of binary messages is discarded.
  private var discardsMessages = false

  package init(limits: Limits) {
    self.limits = limits
    self.headBytes.reserveCapacity(WebSocketFrameHead.maxByteCount)
  }

  /// Whether the reader is within a frame's content.
  package var isWithinFrame: Bool { self.frame != nil }

  /// Discards the content of binary messages from now on, and frees the stored content. The frames
  /// are checked as before, but don't produce a ``WebSocketEvent/message(_:)``.
  package mutating func discardMessages() {
    self.discardsMessages = true
    if self.message?.isText == false { self.message?.bytes = ByteBuffer() }
  }

  /// Reads up to the next event.
  ///
  /// - Parameter bytes: The next bytes of the connection. Bytes that were read are removed.
  /// - Returns: `nil` if all bytes were read.
  /// - Throws: ``WebSocketViolation``. Callers must not continue reading after an error.
  package mutating func next(
    from bytes: inout ByteBuffer
  ) throws(WebSocketViolation) -> WebSocketEvent? {
    while true {
      guard let frame else {
        guard let head = try self.readHead(from: &bytes) else { return nil }
        self.frame = head
        self.position = 0
        guard !head.opcode.isControl else { continue }
        return .frame(messageBytes: try self.begin(head))
      }
      self.readContent(of: frame, from: &bytes)
      guard self.position == frame.length else { return nil }
      self.frame = nil
      if let event = try self.end(frame) { return event }
    }
  }

  // MARK: Heads

  private mutating func readHead(
    from bytes: inout ByteBuffer
  ) throws(WebSocketViolation) -> WebSocketFrameHead? {
    while self.headBytes.count < self.headLength {
      guard let byte = bytes.readInteger(as: UInt8.self) else { return nil }
      self.headBytes.append(byte)
      // A head that cannot be valid is refused before the rest of it arrives.
      if self.headBytes.count <= 2 { try self.checkFirstBytes() }
    }
    defer { self.headBytes.removeAll(keepingCapacity: true) }
    return try self.head()
  }

  /// The bytes of the head, as far as they are known.
  private var headLength: Int {
    guard self.headBytes.count >= 2 else { return 2 }
    let length =
      switch self.headBytes[1] & 0x7F {
      case 126: 2
      case 127: 8
      default: 0
      }
    return 2 + length + 4
  }

  private func checkFirstBytes() throws(WebSocketViolation) {
    let first = self.headBytes[0]
    guard first & 0x70 == 0 else {
      throw WebSocketViolation(.protocolError, "A frame has reserved bits.")
    }
    guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
      throw WebSocketViolation(.protocolError, "A frame has the unknown opcode \(first & 0x0F).")
    }
    guard self.headBytes.count == 2 else { return }
    guard self.headBytes[1] & 0x80 != 0 else {
      throw WebSocketViolation(.protocolError, "A frame of the client has no mask.")
    }
    guard opcode.isControl else { return }
    guard first & 0x80 != 0, self.headBytes[1] & 0x7F <= WebSocketFrameHead.maxControlBytes else {
      throw WebSocketViolation(
        .protocolError, "A control frame is fragmented or has more than 125 bytes.")
    }
  }

  /// Returns the complete head.
  private func head() throws(WebSocketViolation) -> WebSocketFrameHead {
    let bytes = self.headBytes
    let (lengthBytes, keyBytes) = (bytes[2...].dropLast(4), bytes.suffix(4))
    var length = UInt64(bytes[1] & 0x7F)
    if !lengthBytes.isEmpty {
      length = lengthBytes.reduce(0) { $0 << 8 | UInt64($1) }
      guard length > (lengthBytes.count == 2 ? 125 : 0xFFFF), length <= UInt64(Int64.max) else {
        throw WebSocketViolation(
          .protocolError, "The length of a frame is invalid, or not in its shortest form.")
      }
    }
    guard let opcode = WebSocketOpcode(rawValue: bytes[0] & 0x0F) else {
      throw WebSocketViolation(.protocolError, "A frame has an unknown opcode.")
    }
    return WebSocketFrameHead(
      opcode: opcode, isFinal: bytes[0] & 0x80 != 0, length: Int(length),
      key: keyBytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }

  /// Begins a frame of a message.
  ///
  /// - Returns: The bytes of the message up to the end of the frame.
  private mutating func begin(_ head: WebSocketFrameHead) throws(WebSocketViolation) -> Int {
    guard !self.hasEnded else {
      throw WebSocketViolation(.protocolError, "A message follows 'end'.")
    }
    if head.opcode == .continuation {
      guard self.message != nil else {
        throw WebSocketViolation(.protocolError, "A continuation frame continues no message.")
      }
    } else {
      guard self.message == nil else {
        throw WebSocketViolation(.protocolError, "A message begins within another.")
      }
      self.message = Message(isText: head.opcode == .text)
    }
    var message = self.message.take() ?? Message(isText: false)
    message.fragments += 1
    guard message.fragments <= self.limits.maxFragments else {
      throw WebSocketViolation(
        .policyViolation, "A message has more than \(self.limits.maxFragments) frames.")
    }
    let before = message.length
    if message.isText {
      guard head.length <= Self.endText.readableBytes - before else {
        throw WebSocketViolation(.unsupportedData, "The only text message is 'end'.")
      }
    } else {
      guard head.length <= self.limits.maxMessageBytes - before else {
        let more = head.length.addingReportingOverflow(before)
        throw WebSocketViolation(
          .messageTooBig,
          "A message has \(more.overflow ? Int.max : more.partialValue) bytes; the limit is "
            + "\(self.limits.maxMessageBytes).")
      }
    }
    self.message = message
    return before + head.length
  }

  // MARK: Content

  /// Reads the available part of a frame's content.
  private mutating func readContent(of frame: WebSocketFrameHead, from bytes: inout ByteBuffer) {
    let count = min(frame.length - self.position, bytes.readableBytes)
    guard count > 0, let content = bytes.readSlice(length: count) else { return }
    if frame.opcode.isControl {
      self.control.writeUnmasked(content, key: frame.key, offset: self.position)
    } else if var message = self.message.take() {
      let announced = message.length - self.position + frame.length
      message.length += count
      if message.isText || !self.discardsMessages {
        if message.length >= min(announced, Self.minReservingBytes) {
          message.bytes.reserveCapacity(announced)
        }
        message.bytes.writeUnmasked(content, key: frame.key, offset: self.position)
      }
      self.message = message
    }
    self.position += count
  }

  /// Returns the event of a complete frame; `nil` unless the frame ends its message.
  private mutating func end(
    _ frame: WebSocketFrameHead
  ) throws(WebSocketViolation) -> WebSocketEvent? {
    if frame.opcode.isControl {
      let content = self.control
      self.control = ByteBuffer()
      switch frame.opcode {
      case .ping: return .ping(content)
      case .close: return .close(try Self.closeCode(content))
      default: return .pong
      }
    }
    guard frame.isFinal, let message = self.message.take() else { return nil }
    guard message.isText else { return self.discardsMessages ? nil : .message(message.bytes) }
    guard message.bytes == Self.endText else {
      throw WebSocketViolation(.unsupportedData, "The only text message is 'end'.")
    }
    self.hasEnded = true
    return .end
  }

  private static func closeCode(
    _ content: ByteBuffer
  ) throws(WebSocketViolation) -> WebSocketCloseCode? {
    var content = content
    guard content.readableBytes > 0 else { return nil }
    guard let code = content.readInteger(as: UInt16.self).map(WebSocketCloseCode.init(rawValue:)),
      code.isValid
    else { throw WebSocketViolation(.protocolError, "A close frame has an invalid code.") }
    guard String(validating: content.readableBytesView, as: UTF8.self) != nil else {
      throw WebSocketViolation(.invalidText, "The reason of a close frame is not UTF-8.")
    }
    return code
  }
}
