import NIOCore
import SidelightTransport
import Testing

/// The segments of messages, in bytes that arrive in any pieces.
@Suite struct MessageCursorTests {
  static func bytes(_ lengths: [Int]) -> ByteBuffer {
    ByteBuffer(bytes: lengths.flatMap { framed([UInt8](repeating: 7, count: $0)) })
  }

  static func byteCount(_ segments: [MessageSegment]) -> Int {
    segments.reduce(0) { $0 + $1.byteCount }
  }

  @Test func `a batch ends behind as many messages as the weight allows`() {
    var cursor = MessageCursor()
    let (segments, weight) = cursor.segments(
      of: Self.bytes([0, 3, 1, 0]), weight: 2, bytesPerWeight: 512)
    #expect(Self.byteCount(segments) == 5 + 8)
    #expect(weight == 2)
    #expect(segments.map(\.isWhole) == [true, true])
    #expect(!cursor.isWithinMessage)
  }

  @Test func `long messages weigh more, and are not cut`() {
    var cursor = MessageCursor()
    let (segments, weight) = cursor.segments(
      of: Self.bytes([2000, 1]), weight: 2, bytesPerWeight: 512)
    #expect(Self.byteCount(segments) == 2005)
    #expect(weight == 4)
  }

  @Test func `a message that has begun is moved over to its end, whatever the weight`() {
    var cursor = MessageCursor()
    var bytes = Self.bytes([100, 1])
    _ = cursor.segments(of: bytes.readSlice(length: 50) ?? ByteBuffer())
    let (segments, weight) = cursor.segments(of: bytes, weight: 0, bytesPerWeight: 512)
    #expect(Self.byteCount(segments) == 55)
    #expect(weight == 0)
    #expect(segments.map(\.isLast) == [true])
  }

  @Test(arguments: 1 ... 9)
  func `pieces that end anywhere give the same boundaries`(_ size: Int) {
    var cursor = MessageCursor()
    var rest = Self.bytes([0, 3, 11, 0, 1])
    let whole = rest.readableBytes
    var (count, weight) = (0, 0)
    while let piece = rest.readSlice(length: min(size, rest.readableBytes)),
      piece.readableBytes > 0
    {
      let step = cursor.segments(of: piece, weight: 4 - weight, bytesPerWeight: 512)
      count += Self.byteCount(step.segments)
      weight += step.weight
      if Self.byteCount(step.segments) < piece.readableBytes { break }
    }
    #expect(weight == 4)
    #expect(count == whole - 6, "all but the last message")
  }

  @Test(arguments: 1 ... 20)
  func `each message has one prefix, one first and one last segment`(_ size: Int) {
    let lengths = [0, 1, 4, 5, 6, 300, 0, 70]
    var cursor = MessageCursor()
    var rest = Self.bytes(lengths)
    var segments: [MessageSegment] = []
    while let piece = rest.readSlice(length: min(size, rest.readableBytes)),
      piece.readableBytes > 0
    {
      let step = cursor.segments(of: piece).segments
      #expect(Self.byteCount(step) == piece.readableBytes)
      segments += step
    }
    #expect(segments.filter(\.completesPrefix).compactMap(\.prefix?.length) == lengths)
    #expect(segments.count(where: \.isFirst) == lengths.count)
    #expect(segments.count(where: \.isLast) == lengths.count)
    #expect(segments.reduce(0) { $0 + $1.prefixByteCount } == 5 * lengths.count)
    // A segment without a complete prefix doesn't have content.
    #expect(segments.allSatisfy { $0.prefix != nil || $0.byteCount == $0.prefixByteCount })
  }
}
