import NIOCore
import Testing

import SidelightTransport
import SidelightWire

/// Messages that come in pieces, and are handed on whole.
@Suite struct MessageAssemblerTests {
  @Test(arguments: 0 ..< 50)
  func `however messages are cut up, gRPC sees them whole and in order`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let pipeline = try CallPipeline()
    let sizes = [0, 1, 2, 4, 5, 100, 5000, 70000]
    let messages = (0 ..< 12).map { _ in
      [UInt8](
        repeating: .random(in: 0 ... 255, using: &random),
        count: sizes.randomElement(using: &random)!)
    }
    let sent = messages.flatMap(framed)
    var ends: Set<Int> = [0]
    for message in messages { ends.insert(ends.max()! + 5 + message.count) }
    var rest = sent[...]
    var seen: [CallPipeline.Data] = []
    while !rest.isEmpty {
      let piece = rest.prefix(
        [1, 3, 6, 1000, 16384, 100_000].randomElement(using: &random)!)
      rest = rest.dropFirst(piece.count)
      for data in try pipeline.receive([UInt8](piece), endStream: rest.isEmpty) {
        seen.append(data)
        #expect(ends.contains(seen.joined.count), "a message was handed on in part")
      }
    }
    #expect(seen.joined == sent)
    #expect(seen.filter(\.endStream).count == 1 && seen.last?.endStream == true)
  }

  @Test func `short messages that come in one piece are handed on as they lie`() throws {
    let sent = ByteBuffer(bytes: framed([1, 2, 3]) + framed([4]))
    let seen = try CallPipeline().receive(sent, endStream: true)
    #expect(seen.count == 1)
    #expect(seen[0].endStream)
    #expect(seen[0].bytes.addresses == sent.addresses)
  }

  @Test func `pixels that come in one piece do not keep the bytes that were read in use`() throws {
    let pixels = framed([UInt8](repeating: 7, count: 5000))
    let sent = ByteBuffer(bytes: pixels + framed([1]))
    let seen = try CallPipeline().receive(sent)
    #expect(seen.joined == pixels + framed([1]))
    #expect(!seen.contains { $0.bytes.addresses.overlaps(sent.addresses) })
    // Also behind the end of a message that began before.
    let pipeline = try CallPipeline()
    #expect(try pipeline.receive(Array(pixels.prefix(100))).isEmpty)
    let rest = ByteBuffer(bytes: Array(pixels.dropFirst(100)) + pixels)
    let both = try pipeline.receive(rest)
    #expect(both.joined == pixels + pixels)
    #expect(!both.contains { $0.bytes.addresses.overlaps(rest.addresses) })
  }

  @Test
  func `of a message that is too long gRPC sees everything at once, and whatever follows`() throws {
    let pipeline = try CallPipeline(maxMessageBytes: 100)
    #expect(try pipeline.receive(framed([7]) + [0, 0, 0]).joined == framed([7]))
    #expect(try pipeline.receive([0, 101, 9]).joined == [0, 0, 0, 0, 101, 9])
    #expect(try pipeline.receive([9, 9]).joined == [9, 9])
  }

  @Test func `a message that is cut off is handed on as far as it came`() throws {
    let pipeline = try CallPipeline()
    #expect(try pipeline.receive([0, 0, 0, 0, 9, 1]).isEmpty)
    let seen = try pipeline.receive([2], endStream: true)
    #expect(seen.joined == [0, 0, 0, 0, 9, 1, 2])
    #expect(seen.map(\.endStream) == [true])
  }
}
