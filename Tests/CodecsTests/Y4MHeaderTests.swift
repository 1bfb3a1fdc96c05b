import SidelightCodecs
import SidelightKernels
import Testing

@Suite struct `A Y4M header` {
  @Test func `is read with all its tags, and written back with them`() throws {
    let line =
      "YUV4MPEG2 W320 H240 F30000:1001 Ip A4:3 C420mpeg2 XYSCSS=420MPEG2 Xother XCOLORRANGE=FULL"
    let header = try Y4MHeader(line: line)
    #expect(header.size == FrameSize(width: 320, height: 240))
    #expect(header.frameRate == Rational(30000, 1001))
    #expect(header.pixelAspect == Rational(4, 3))
    #expect(header.chroma == .mpeg2)
    #expect(header.range == .full)
    #expect(header.extensions == ["XYSCSS=420MPEG2", "Xother"])
    #expect(header.line == line)
    #expect(try Y4MHeader(line: header.line) == header)
  }

  @Test func `that says little is 4:2:0 of unknown rate in video range`() throws {
    let header = try Y4MHeader(line: "YUV4MPEG2 H3 W5 I? F0:0 A0:0")
    #expect(header.size == FrameSize(width: 5, height: 3))
    #expect(header.frameRate == nil)
    #expect(header.pixelAspect == nil)
    #expect(header.chroma == .jpeg)
    #expect(header.range == nil)
    #expect(header.geometry().color.range == .video)
    #expect(header.line == "YUV4MPEG2 W5 H3 F0:0 Ip C420jpeg")
    #expect(header.frameByteCount == 15 + 2 * 3 * 2)
  }

  @Test(
    arguments: [
      ("420jpeg", .jpeg), ("420mpeg2", .mpeg2), ("420paldv", .palDV), ("420", .unspecified),
      ("mono", .mono),
    ] as [(String, Y4MChroma)])
  func `names its chroma`(tag: String, chroma: Y4MChroma) throws {
    let header = try Y4MHeader(line: "YUV4MPEG2 W2 H2 C\(tag)")
    #expect(header.chroma == chroma)
    #expect(header.geometry().format == (tag == "mono" ? .gray8 : .i420))
    #expect(try Y4MHeader(line: header.line) == header)
  }

  @Test func `of more than 576 rows has the matrix of HD, unless the caller knows better`() {
    func header(_ height: Int) -> Y4MHeader {
      Y4MHeader(size: FrameSize(width: 16, height: height), frameRate: nil)
    }
    #expect(header(576).geometry().color.matrix == .bt601)
    #expect(header(577).geometry().color.matrix == .bt709)
    #expect(header(1080).geometry(matrix: .bt601).color.matrix == .bt601)
  }

  @Test(
    arguments: [
      ("YUV4MPEG W2 H2", .unknownFormat, "YUV4MPEG2"),
      ("", .unknownFormat, "YUV4MPEG2"),
      ("YUV4MPEG2 W2", .corrupt, "no height"),
      ("YUV4MPEG2 H2", .corrupt, "no width"),
      ("YUV4MPEG2 W0 H2", .corrupt, "'W0' is not a size"),
      ("YUV4MPEG2 W-4 H2", .corrupt, "'W-4'"),
      ("YUV4MPEG2 W99999999999999999999 H2", .corrupt, "'W9999"),
      ("YUV4MPEG2 W2 H2x", .corrupt, "'H2x'"),
      ("YUV4MPEG2 W2 H2 F25", .corrupt, "'F25' is not a ratio"),
      ("YUV4MPEG2 W2 H2 F25:1:1", .corrupt, "is not a ratio"),
      ("YUV4MPEG2 W2 H2 F-25:1", .corrupt, "is not a ratio"),
      ("YUV4MPEG2 W2 H2 F4294967296:1", .corrupt, "beyond 2147483647"),
      ("YUV4MPEG2 W2 H2 It", .unsupported, "interlaced"),
      ("YUV4MPEG2 W2 H2 Ib", .unsupported, "yadif"),
      ("YUV4MPEG2 W2 H2 Im", .unsupported, "yadif"),
      ("YUV4MPEG2 W2 H2 Iq", .corrupt, "'Iq'"),
      ("YUV4MPEG2 W2 H2 C422", .unsupported, "-pix_fmt yuv420p"),
      ("YUV4MPEG2 W2 H2 C420p10", .unsupported, "C420p10"),
      ("YUV4MPEG2 W2 H2 C444\u{1b}[2J", .unsupported, "C444?[2J"),
      ("YUV4MPEG2 W2 H2 Z1", .corrupt, "'Z1'"),
    ] as [(String, CodecError.Code, String)])
  func `that cannot be used is refused, and the message says what to do`(
    line: String, code: CodecError.Code, words: String
  ) {
    let error = #expect(throws: CodecError.self) { try Y4MHeader(line: line) }
    #expect(error?.code == code)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
