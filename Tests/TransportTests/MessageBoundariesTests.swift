import NIOCore
import SidelightServer
import Testing

/// Where batches of messages end, in bytes that come in any pieces.
@Suite struct MessageBoundariesTests {
  static func messages(_ lengths: [Int]) -> ByteBuffer {
    lengths.reduce(ByteBuffer()) { bytes, length in
      bytes.appending(RawPeer.message([UInt8](repeating: 7, count: length)))
    }
  }

  @Test("A batch ends behind as many messages as the weight allows")
  func byCount() {
    var boundaries = MessageBoundaries()
    let bytes = Self.messages([0, 3, 1, 0])
    let first = boundaries.advance(over: bytes, weight: 2, bytesPerWeight: 512)
    #expect(first == (5 + 8, 2))
    #expect(!boundaries.isWithinMessage)
  }

  @Test("Long messages weigh more, and are not cut")
  func byLength() {
    var boundaries = MessageBoundaries()
    let bytes = Self.messages([2000, 1])
    let first = boundaries.advance(over: bytes, weight: 2, bytesPerWeight: 512)
    #expect(first == (2005, 4))
  }

  @Test("Pieces that end anywhere give the same boundaries", arguments: 1 ... 9)
  func pieces(_ size: Int) {
    var boundaries = MessageBoundaries()
    var rest = Self.messages([0, 3, 11, 0, 1])
    let whole = rest.readableBytes
    var (count, weight) = (0, 0)
    while let piece = rest.readSlice(length: min(size, rest.readableBytes)),
      piece.readableBytes > 0
    {
      let step = boundaries.advance(over: piece, weight: 4 - weight, bytesPerWeight: 512)
      count += step.count
      weight += step.weight
      if step.count < piece.readableBytes { break }
    }
    #expect(weight == 4)
    #expect(count == whole - 6, "all but the last message")
  }
}
