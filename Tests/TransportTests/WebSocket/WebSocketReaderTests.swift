import NIOCore
import SidelightTransport
import Testing

/// The frames of a client, in bytes that arrive in any pieces.
@Suite struct WebSocketReaderTests {
  static let maxBytes = 5000

  /// Reads bytes in pieces.
  ///
  /// - Returns: The events, except those that only announce a frame.
  static func read(
    _ bytes: [UInt8], inPiecesOf size: Int = .max, maxBytes: Int = Self.maxBytes
  ) throws(WebSocketViolation) -> [WebSocketEvent] {
    var reader = WebSocketReader(limits: .init(maxMessageBytes: maxBytes))
    var events: [WebSocketEvent] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      var piece = ByteBuffer(bytes: rest.prefix(size))
      rest = rest.dropFirst(size)
      while let event = try reader.next(from: &piece) {
        if case .frame = event { continue }
        events.append(event)
      }
      #expect(piece.readableBytes == 0)
    }
    return events
  }

  static func content(_ count: Int) -> [UInt8] { (0 ..< count).map { UInt8($0 % 251) } }

  @Test(arguments: [0, 1, 7, 8, 125, 126, 127, 4000], [1, 2, 3, 7, 1000, .max])
  func `a message arrives without its mask, in pieces of any size`(_ count: Int, _ size: Int) throws
  {
    let content = Self.content(count)
    let events = try Self.read(
      ClientFrame(opcode: ClientFrame.binary, content: content).bytes, inPiecesOf: size)
    #expect(events == [.message(ByteBuffer(bytes: content))])
  }

  @Test func `a message of more than 64 KiB arrives whole`() throws {
    let content = Self.content(70_001)
    let bytes = ClientFrame(opcode: ClientFrame.binary, content: content).bytes
    for size in [1 << 10, 70_000, Int.max] {
      let events = try Self.read(bytes, inPiecesOf: size, maxBytes: 100_000)
      #expect(events == [.message(ByteBuffer(bytes: content))])
    }
  }

  @Test(arguments: 0 ..< 40)
  func `fragments with control frames between them are one message`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var bytes: [UInt8] = []
    var expected: [WebSocketEvent] = []
    for _ in 0 ..< 5 {
      let content = Self.content(.random(in: 0 ... 600, using: &random))
      var rest = content[...]
      var opcode = ClientFrame.binary
      repeat {
        let part = Array(rest.prefix(.random(in: 0 ... 200, using: &random)))
        rest = rest.dropFirst(part.count)
        if Bool.random(using: &random) {
          bytes += ClientFrame(opcode: ClientFrame.ping, content: part.suffix(125)).bytes
          expected.append(.ping(ByteBuffer(bytes: part.suffix(125))))
        }
        let key = (0 ..< 4).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        let isLast = rest.isEmpty && Bool.random(using: &random)
        bytes +=
          ClientFrame(opcode: opcode, content: part, isFinal: isLast, key: key).bytes
        opcode = 0
        if isLast { break }
      } while true
      expected.append(.message(ByteBuffer(bytes: content)))
    }
    bytes += ClientFrame(opcode: ClientFrame.text, content: Array("end".utf8)).bytes
    bytes += ClientFrame(opcode: ClientFrame.close, content: [0x03, 0xE8]).bytes
    expected += [.end, .close(.normal)]
    for size in [1, 13, Int.max] {
      #expect(try Self.read(bytes, inPiecesOf: size) == expected)
    }
  }

  /// Bytes that violate the protocol or a limit, and the code of the close frame.
  static let violations: [(name: String, bytes: [UInt8], code: WebSocketCloseCode)] = [
    ("no mask", ClientFrame(opcode: 2, isMasked: false).bytes, .protocolError),
    ("reserved bits", ClientFrame(opcode: 2, reservedBits: 4).bytes, .protocolError),
    ("an unknown opcode", ClientFrame(opcode: 5).bytes, .protocolError),
    ("a fragmented ping", ClientFrame(opcode: 9, isFinal: false).bytes, .protocolError),
    (
      "a long ping", ClientFrame(opcode: 9, content: [UInt8](repeating: 0, count: 126)).bytes,
      .protocolError
    ),
    ("a continuation of nothing", ClientFrame(opcode: 0).bytes, .protocolError),
    (
      "a message within another",
      ClientFrame(opcode: 2, isFinal: false).bytes + ClientFrame(opcode: 2).bytes, .protocolError
    ),
    ("a wide length", ClientFrame(opcode: 2, content: [1], lengthBytes: 2).bytes, .protocolError),
    (
      "a wider length", ClientFrame(opcode: 2, content: [1], lengthBytes: 8).bytes, .protocolError
    ),
    ("a negative length", ClientFrame(opcode: 2, length: 1 << 63).bytes, .protocolError),
    ("another text", ClientFrame(opcode: 1, content: Array("bye".utf8)).bytes, .unsupportedData),
    ("a long text", ClientFrame(opcode: 1, length: 4).bytes, .unsupportedData),
    (
      "a message over the limit", ClientFrame(opcode: 2, length: UInt64(Self.maxBytes) + 1).bytes,
      .messageTooBig
    ),
    (
      "fragments over the limit",
      ClientFrame(opcode: 2, content: [1], isFinal: false).bytes
        + ClientFrame(opcode: 0, length: UInt64(Self.maxBytes)).bytes, .messageTooBig
    ),
    (
      "fragments whose lengths overflow",
      ClientFrame(opcode: 2, content: [1], isFinal: false).bytes
        + ClientFrame(opcode: 0, length: UInt64(Int64.max)).bytes, .messageTooBig
    ),
    (
      "endless fragments",
      ClientFrame(opcode: 2, isFinal: false).bytes
        + (0 ..< 16384).flatMap { _ in ClientFrame(opcode: 0, isFinal: false).bytes },
      .policyViolation
    ),
    (
      "a message after the end",
      ClientFrame(opcode: 1, content: Array("end".utf8)).bytes + ClientFrame(opcode: 2).bytes,
      .protocolError
    ),
    ("a close frame of one byte", ClientFrame(opcode: 8, content: [3]).bytes, .protocolError),
    ("a reserved code", ClientFrame(opcode: 8, content: [3, 0xED]).bytes, .protocolError),
    ("a reason of noise", ClientFrame(opcode: 8, content: [3, 0xE8, 0xFF]).bytes, .invalidText),
  ]

  @Test(arguments: Self.violations.map(\.name))
  func `a violation is found as soon as its bytes are there`(_ name: String) throws {
    let violation = try #require(Self.violations.first { $0.name == name })
    for size in [1, 3, Int.max] {
      let error = #expect(throws: WebSocketViolation.self) {
        try Self.read(violation.bytes, inPiecesOf: size)
      }
      #expect(error?.code == violation.code)
      #expect(error?.reason.isEmpty == false)
    }
  }

  @Test func `a frame announces the bytes of its message before they are read`() throws {
    var reader = WebSocketReader(limits: .init(maxMessageBytes: 1 << 30))
    var bytes = ByteBuffer(
      bytes: ClientFrame(opcode: 2, content: [1, 2], isFinal: false).bytes
        + ClientFrame(opcode: 0, length: 1 << 29).bytes)
    #expect(try reader.next(from: &bytes) == .frame(messageBytes: 2))
    #expect(try reader.next(from: &bytes) == .frame(messageBytes: 2 + 1 << 29))
    #expect(reader.isWithinFrame)
    #expect(try reader.next(from: &bytes) == nil)
  }

  @Test(arguments: [1, 7, Int.max])
  func `discarded messages are checked, and the close frame after them is read`(_ size: Int) throws
  {
    var reader = WebSocketReader(limits: .init(maxMessageBytes: Self.maxBytes))
    var start = ByteBuffer(
      bytes: ClientFrame(opcode: 2, content: Self.content(100), isFinal: false).bytes)
    #expect(try reader.next(from: &start) == .frame(messageBytes: 100))
    #expect(try reader.next(from: &start) == nil)
    reader.discardMessages()
    var events: [WebSocketEvent] = []
    var rest =
      (ClientFrame(opcode: 0, content: Self.content(Self.maxBytes - 100)).bytes
      + ClientFrame(opcode: 2, content: Self.content(Self.maxBytes)).bytes
      + ClientFrame(opcode: ClientFrame.text, content: Array("end".utf8)).bytes
      + ClientFrame(opcode: ClientFrame.close, content: [0x03, 0xE8]).bytes)[...]
    while !rest.isEmpty {
      var piece = ByteBuffer(bytes: rest.prefix(size))
      rest = rest.dropFirst(size)
      while let event = try reader.next(from: &piece) { events.append(event) }
    }
    #expect(
      events == [
        .frame(messageBytes: Self.maxBytes), .frame(messageBytes: Self.maxBytes),
        .frame(messageBytes: 3), .end, .close(.normal),
      ])
  }

  @Test func `discarded fragments count towards the limit`() throws {
    var reader = WebSocketReader(limits: .init(maxMessageBytes: Self.maxBytes))
    reader.discardMessages()
    var bytes = ByteBuffer(
      bytes: ClientFrame(opcode: 2, content: [1], isFinal: false).bytes
        + ClientFrame(opcode: 0, length: UInt64(Self.maxBytes)).bytes)
    #expect(try reader.next(from: &bytes) == .frame(messageBytes: 1))
    let error = #expect(throws: WebSocketViolation.self) { try reader.next(from: &bytes) }
    #expect(error?.code == .messageTooBig)
  }

  @Test(arguments: 0 ..< 200)
  func `noise never ends the process`(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let noise = (0 ..< 2000).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
    // Most noise is refused within a few bytes; some continues with valid heads.
    let valid = ClientFrame(opcode: 2, content: Self.content(20)).bytes
    _ = try? Self.read(valid + noise, inPiecesOf: .random(in: 1 ... 50, using: &random))
  }

  @Test(arguments: [0, 1, 3, 4, 9, 64], [0, 1, 2, 3, 5])
  func `a mask is removed from any offset`(_ count: Int, _ offset: Int) {
    let key: [UInt8] = [1, 2, 3, 4]
    let content = Self.content(count)
    let masked = content.enumerated().map { $1 ^ key[($0 + offset) % 4] }
    var buffer = ByteBuffer(bytes: [9])
    buffer.writeUnmasked(ByteBuffer(bytes: masked), key: 0x0403_0201, offset: offset)
    #expect(Array(buffer.readableBytesView) == [9] + content)
  }
}
