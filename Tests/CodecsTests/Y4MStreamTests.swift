import SidelightCodecs
import SidelightKernels
import Synchronization
import Testing

@Suite struct `A Y4M stream` {
  /// Bytes that are read in pieces and written to.
  final class MemoryFile: Sendable {
    let content: Mutex<[UInt8]>
    let piece: Int

    init(_ content: [UInt8] = [], piece: Int = .max) {
      self.content = Mutex(content)
      self.piece = piece
    }

    func read(_ span: inout MutableRawSpan) -> Int {
      self.content.withLock { content in
        let count = min(self.piece, span.byteCount, content.count)
        for index in 0 ..< count {
          span.storeBytes(of: content[index], toByteOffset: index, as: UInt8.self)
        }
        content.removeFirst(count)
        return count
      }
    }

    func write(_ span: RawSpan) {
      span.withUnsafeBytes { bytes in self.content.withLock { $0 += bytes } }
    }
  }

  /// Three frames of 3 x 3, with the bytes 0 ... 16: nine of luma, four per chroma plane. The
  /// second has parameters.
  static func stream(_ tags: String = "") -> [UInt8] {
    let samples = Array(0 ..< 17 as Range<UInt8>)
    return Array("YUV4MPEG2 W3 H3 F25:1 Ip C420jpeg\(tags)\n".utf8) + Array("FRAME\n".utf8)
      + samples
      + Array("FRAME Ippp XA=1\n".utf8) + samples.map { $0 + 100 } + Array("FRAME\n".utf8) + samples
  }

  static func readAll(_ tape: MemoryFile) throws -> [Frame] {
    var reader = try Y4MReader(pool: Scene.pool) { tape.read(&$0) }
    var frames: [Frame] = []
    while let frame = try reader.next() { frames.append(frame) }
    return frames
  }

  @Test(arguments: [1, 2, 3, 7, 16, 17, 60, .max])
  func `is read the same in pieces of any length`(length: Int) throws {
    let frames = try Self.readAll(MemoryFile(Self.stream(), piece: length))
    #expect(frames.map(Scene.packed) == [Array(0 ... 16), Array(100 ... 116), Array(0 ... 16)])
    #expect(frames.allSatisfy { $0.format == .i420 && $0.size == FrameSize(width: 3, height: 3) })
    #expect(frames.allSatisfy { $0.color.range == .video })
  }

  @Test func `in full range gives frames in full range`() throws {
    let frames = try Self.readAll(MemoryFile(Self.stream(" XCOLORRANGE=FULL")))
    #expect(frames.count == 3)
    #expect(frames.allSatisfy { $0.color.range == .full })
  }

  @Test(arguments: Y4MChroma.allCases)
  func `comes back as it was written`(chroma: Y4MChroma) throws {
    for size in Scene.sizes {
      let header = Y4MHeader(
        size: size, frameRate: Rational(24000, 1001), chroma: chroma, range: .full,
        extensions: ["XLIGHT=1"])
      let frames = try (0 ..< 3).map { _ in
        try Scene.noise(chroma.pixelFormat, size, color: ColorDescription(range: .full))
      }
      let tape = MemoryFile(piece: 1000)
      var writer = Y4MWriter(header: header) { tape.write($0) }
      for frame in frames { try writer.write(frame) }
      try writer.finish()
      var reader = try Y4MReader(pool: Scene.pool, matrix: .bt709) { tape.read(&$0) }
      #expect(reader.header == header)
      #expect(reader.geometry.color.matrix == .bt709)
      for frame in frames {
        #expect(try reader.next().map(Scene.packed) == Scene.packed(frame))
      }
      #expect(try reader.next() == nil)
    }
  }

  @Test func `is written byte for byte as the format says`() throws {
    let tape = MemoryFile()
    let header = Y4MHeader(size: FrameSize(width: 3, height: 3), frameRate: Rational(25, 1))
    var writer = Y4MWriter(header: header) { tape.write($0) }
    for start in [0, 100] as [UInt8] {
      let starts: [UInt8] = [0, 9, 13]
      let frame = try Scene.frame(.i420, header.size) { plane, row, column in
        start + starts[plane] + UInt8(row * (plane == 0 ? 3 : 2) + column)
      }
      try writer.write(frame)
    }
    try writer.finish()
    let expected =
      Array("YUV4MPEG2 W3 H3 F25:1 Ip C420jpeg\nFRAME\n".utf8) + Array(0 ... 16)
      + Array("FRAME\n".utf8) + Array(100 ... 116)
    #expect(tape.content.withLock { $0 } == expected)
  }

  @Test func `without frames is a header, both ways`() throws {
    let tape = MemoryFile()
    let header = Y4MHeader(size: FrameSize(width: 3, height: 3), frameRate: nil)
    try Y4MWriter(header: header) { tape.write($0) }.finish()
    #expect(tape.content.withLock { String(decoding: $0, as: UTF8.self) } == header.line + "\n")
    #expect(try Self.readAll(tape).isEmpty)
  }

  @Test func `that ends anywhere but between frames is truncated`() throws {
    let stream = Self.stream()
    let header = 34
    let ends = [header, header + 6 + 17, header + 6 + 17 + 16 + 17, stream.count]
    for count in 0 ..< stream.count {
      let tape = MemoryFile(Array(stream.prefix(count)), piece: 5)
      if ends.contains(count) {
        #expect(try Self.readAll(tape).count == ends.firstIndex(of: count))
      } else {
        let error = #expect(throws: CodecError.self) { try Self.readAll(tape) }
        #expect(error?.code == .truncated, "\(count) bytes")
      }
    }
  }

  @Test func `that ends within a frame says which one and by how much`() throws {
    let tape = MemoryFile(Array(Self.stream().dropLast(5)))
    let error = #expect(throws: CodecError.self) { try Self.readAll(tape) }
    #expect(error?.message == "the stream ends 5 bytes before the end of frame 2")
  }

  @Test func `with something else where a frame should start is refused`() throws {
    for line in ["FRAMES\n", "frame\n", "\n", "FRAM\n"] {
      let bytes = Array("YUV4MPEG2 W1 H1 Cmono\nFRAME\nx\(line)x".utf8)
      let error = #expect(throws: CodecError.self) { try Self.readAll(MemoryFile(bytes)) }
      #expect(error?.code == .corrupt)
      #expect(error?.message.contains("frame 1") == true)
    }
  }

  @Test
  func `whose lines do not end is refused at 4096 bytes, and one that never starts at once`() throws
  {
    let endless = Array(repeating: UInt8(ascii: "X"), count: 5000)
    for start in ["YUV4MPEG2 ", "YUV4MPEG2 W1 H1 Cmono\nFRAME "] {
      let error = #expect(throws: CodecError.self) {
        try Self.readAll(MemoryFile(Array(start.utf8) + endless))
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.message.contains("4096") == true)
    }
    let tape = MemoryFile(endless, piece: 10)
    let error = #expect(throws: CodecError.self) { try Self.readAll(tape) }
    #expect(error?.code == .unknownFormat)
    #expect(tape.content.withLock { $0.count } == 4990)
  }

  @Test func `of frames beyond the limits is refused before memory is taken`() throws {
    for (tags, words) in [
      ("W20000 H2", "16384"), ("W16384 H16384", "67108864"),
      ("W9223372036854775807 H9223372036854775807", "16384"),
    ] {
      let error = #expect(throws: CodecError.self) {
        try Self.readAll(MemoryFile(Array("YUV4MPEG2 \(tags)\n".utf8)))
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.message.contains(words) == true)
    }
  }

  @Test func `passes on what the caller's closures throw`() throws {
    struct Broken: Error {}
    #expect(throws: Broken.self) { _ = try Y4MReader(pool: Scene.pool) { _ in throw Broken() } }
    let header = Y4MHeader(size: FrameSize(width: 1, height: 1), frameRate: nil)
    #expect(throws: Broken.self) { try Y4MWriter(header: header) { _ in throw Broken() }.finish() }
  }

  @Test func `takes only frames of the stream's format, size and range`() throws {
    let size = FrameSize(width: 4, height: 4)
    let frames = try [
      Scene.noise(.nv12, size), Scene.noise(.i420, FrameSize(width: 4, height: 5)),
      Scene.noise(.i420, size, color: ColorDescription(range: .full)),
    ]
    for (frame, words) in zip(frames, ["nv12", "4x5", "full"]) {
      let error = #expect(throws: CodecError.self) {
        let tape = MemoryFile()
        var writer = Y4MWriter(header: Y4MHeader(size: size, frameRate: nil)) { tape.write($0) }
        try writer.write(frame)
      }
      #expect(error?.code == .invalidOption)
      #expect(error?.message.contains(words) == true)
    }
  }
}
