import SidelightCodecs
import SidelightKernels
import Testing

@Suite struct `The Y4M parser` {
  @Test func `says where the samples lie in each piece of the input`() throws {
    var parser = Y4MParser()
    let header = Y4MHeader(size: FrameSize(width: 2, height: 2), frameRate: Rational(1, 1))
    let first = Array("\(header.line)\nFRAME\nabcd".utf8)
    let second = Array("efFRAME\n".utf8)
    #expect(
      try Self.events(&parser, first) == [
        .header(header), .frameStart, .samples(first.count - 4 ..< first.count),
      ])
    #expect(throws: CodecError.self) { try parser.finish() }
    #expect(try Self.events(&parser, second) == [.samples(0 ..< 2), .frameEnd, .frameStart])
  }

  @Test func `ends a frame even if no further byte comes`() throws {
    var parser = Y4MParser()
    let events = try Self.events(&parser, Array("YUV4MPEG2 W1 H1 Cmono\nFRAME\nx".utf8))
    #expect(events.last == .frameEnd)
    try parser.finish()
  }

  @Test func `survives any bytes`() {
    var random = SeededRandom(seed: 7)
    let alphabet = Array("YUV4MPEG2 FRAME\nWHC0123:".utf8)
    var refused = 0
    for _ in 0 ..< 2000 {
      var parser = Y4MParser()
      var input = Array("YUV4MPEG2 W2 H2\n".utf8)
      for _ in 0 ..< 6 {
        input[Int.random(in: 10 ..< input.count, using: &random)] =
          alphabet.randomElement(using: &random) ?? 0
      }
      input += (0 ..< 40).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      do {
        _ = try Self.events(&parser, input)
      } catch {
        refused += 1
      }
    }
    #expect(refused > 1000)
  }

  static func events(
    _ parser: inout Y4MParser, _ input: [UInt8]
  ) throws(CodecError) -> [Y4MParser.Event] {
    var events: [Y4MParser.Event] = []
    var offset = 0
    while let event = try parser.next(in: input.span.bytes, from: &offset) { events.append(event) }
    return events
  }
}
