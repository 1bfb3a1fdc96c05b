import Foundation
import GRPCCore
import InMemoryTracing
import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing
import Tracing

/// JPEG frames through a real server.
@Suite(.timeLimit(.minutes(5))) struct JPEGFrameTests {
  static let look: Pipeline = [
    .filter("sepiaTone"), .filter("vignette", ["intensity": .number(1)]),
  ]

  func converse(
    _ messages: [Sidelight_V1_ClientMessage], _ configuration: ServerConfiguration = .init(),
    tracer: (any Tracer)? = nil
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await withServer(configuration, tracer: tracer) { _, address in
      try await withStub(address) { try await $0.converse(messages) }
    }
  }

  @Test
  func `a JPEG that the pipeline does not change is returned byte for byte, with any subsampling`()
    async throws
  {
    let images = try JPEGSubsampling.allCases.map {
      try Sidelight_V1_Image.jpeg(64, 48, subsampling: $0)
    }
    // The quality is only a setting of the encoder, which isn't used.
    for quality in [0, 30] as [UInt32] {
      let frames = try await self.converse(
        [.open { $0.output.jpegQuality = quality }]
          + images.enumerated().map { .frame(UInt64($0 + 1), $1) }
      ).frames
      #expect(frames.map(\.disposition) == images.map { _ in .passedThrough })
      #expect(frames.map(\.image) == images)
    }
  }

  @Test func `a filtered JPEG equals decoding, filtering and encoding in sequence`() async throws {
    for subsampling in JPEGSubsampling.allCases {
      let image = try Sidelight_V1_Image.jpeg(75, 41, subsampling: subsampling)
      let answers = try await self.converse([.open(Self.look), .frame(1, image)])
      let frame = try #require(answers.frames.first)
      #expect(frame.disposition == .filtered)
      #expect(frame.image.format == .jpeg)
      #expect((frame.image.width, frame.image.height) == (75, 41))
      let expected = try await image.decoded()
        .filtered(Self.look, as: FrameEncoding(format: .i420, color: .jpeg)).jpeg()
      #expect(frame.image.inline == expected)
      #expect(answers.finalStats?.bytesIn == UInt64(image.inline.count))
      #expect(answers.finalStats?.bytesOut == UInt64(expected.count))
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `a JPEG is returned as samples on request`(format: PixelFormat) async throws {
    let image = try Sidelight_V1_Image.jpeg(75, 41)
    let open = Sidelight_V1_ClientMessage.open(Self.look) {
      $0.output.format = Sidelight_V1_PixelFormat(format)
    }
    let frame = try #require(try await self.converse([open, .frame(1, image)]).frames.first)
    let expected = try await image.decoded()
      .filtered(Self.look, as: FrameEncoding(format: format, color: .jpeg))
    #expect(frame.image == Sidelight_V1_Image(expected))
  }

  @Test(arguments: PixelFormat.allCases)
  func `samples are returned as a JPEG on request`(format: PixelFormat) async throws {
    let image = Sidelight_V1_Image.noise(format, 64, 36)
    let open = Sidelight_V1_ClientMessage.open {
      $0.output.format = .jpeg
      $0.output.jpegQuality = 70
      $0.output.width = 32
    }
    let answers = try await self.converse([open, .frame(1, image), .frame(2, image)])
    let frame = try #require(answers.frames.first)
    // All stages are inactive, and yet the bytes differ from the received ones.
    #expect(frame.disposition == .filtered)
    let source = try image.makeFrame()
    let encoding = format == .gray8 ? nil : FrameEncoding(format: .i420, color: .jpeg)
    let expected = try await source.filtered([], shape: FrameShape(width: 32), as: encoding)
      .jpeg(JPEGSettings(quality: 70))
    #expect(frame.image.inline == expected)
    #expect((frame.image.width, frame.image.height) == (32, 18))
    #expect(answers.frames.last?.image == frame.image)
  }

  @Test
  func `a still image equals a session's frame byte for byte, in every output format`() async throws
  {
    let turned = try Sidelight_V1_Image.with {
      $0 = try .jpeg(75, 41)
      $0.orientation.rotation = .rotation90
    }
    let raw = Sidelight_V1_Image.with {
      $0 = .noise(.bgra8, 33, 17)
      $0.orientation.mirrored = true
    }
    let specs: [Sidelight_V1_OutputSpec] = [
      .init(), .with { $0.format = .jpeg }, .with { $0.format = .nv12 },
      .with {
        $0.upright = true
        $0.width = 50
        $0.height = 50
      },
      .with {
        $0.format = .jpeg
        $0.jpegSubsampling = .chromaSubsampling422
        $0.fit = .aspectFill
        $0.width = 20
        $0.height = 90
      },
    ]
    try await withServer { _, address in
      try await withStub(address) { stub in
        for (image, spec) in [turned, raw].flatMap({ image in specs.map { (image, $0) } }) {
          for pipeline in [[], Self.look] as [Pipeline] {
            let frames = try await stub.converse([
              .open(pipeline) { $0.output = spec }, .frame(1, image),
            ]).frames
            let frame = try #require(frames.first)
            let still = try await stub.apply(
              .with {
                $0.image = image
                $0.pipeline = Sidelight_V1_Pipeline(pipeline)
                $0.output = spec
              })
            #expect(still.image == frame.image)
            #expect(still.disposition == frame.disposition)
          }
        }
      }
    }
  }

  @Test func `decoding and encoding are passes with separate spans, in order`() async throws {
    let tracer = W3CTracer()
    _ = try await self.converse(
      [.open(Self.look), .frame(1, try .jpeg(64, 48))], tracer: tracer)
    let names = tracer.memory.finishedSpans.map(\.operationName)
    let passes = names.filter { !$0.hasPrefix("sidelight.") }
    #expect(passes == ["jpegDecode", "sepiaTone+vignette", "jpegEncode"])
  }

  static let badFiles: [(String, String, @Sendable () throws -> Sidelight_V1_Image)] = [
    ("not a JPEG", "inline", { .jpeg(Array("GIF89a, really".utf8)) }),
    ("nothing", "inline", { .jpeg([]) }),
    ("a PNG", "inline", { .jpeg([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) }),
    (
      "cut off", "truncated",
      { .jpeg([UInt8](try Sidelight_V1_Image.jpeg(64, 48).inline.dropLast(20))) }
    ),
    (
      "damaged", "corrupt",
      {
        var file = [UInt8](try Sidelight_V1_Image.jpeg(64, 48).inline)
        let scan = try #require(file.lastIndex(of: 0xDA))
        for index in stride(from: scan + 20, to: file.count - 2, by: 3) { file[index] = 0x55 }
        return .jpeg(file)
      }
    ),
    ("a header of 65500x65500", "16384", { .jpeg(Self.header(width: 65500, height: 65500)) }),
    ("a header of 16000x16000", "pixels", { .jpeg(Self.header(width: 16000, height: 16000)) }),
    ("CMYK", "CMYK", { .jpeg(Self.header(components: 4)) }),
    ("12 bits", "12 bits", { .jpeg(Self.header(precision: 12)) }),
    ("lossless", "lossless", { .jpeg(Self.header(marker: 0xC3)) }),
    (
      "another width than stated", "width",
      {
        var image = try Sidelight_V1_Image.jpeg(64, 48)
        image.width = 65
        return image
      }
    ),
    (
      "another height than stated", "height",
      {
        var image = try Sidelight_V1_Image.jpeg(64, 48)
        image.height = 1
        return image
      }
    ),
    (
      "planes", "planes",
      {
        var image = try Sidelight_V1_Image.jpeg(64, 48)
        image.planes = [.init()]
        return image
      }
    ),
    (
      "a bomb of scans", "scans",
      {
        var file = [UInt8](try Sidelight_V1_Image.jpeg(64, 48).inline)
        let scan = try #require(file.lastIndex(of: 0xDA)) - 1
        file.insert(
          contentsOf: (0 ..< 65).flatMap { _ in file[scan ..< scan + 20] }, at: file.count - 2)
        return .jpeg(file)
      }
    ),
    ("no bytes", "pixels", { .with { $0.format = .jpeg } }),
    (
      "a PNG, said to be one", "format",
      {
        .with {
          $0.format = .png
          $0.inline = Data([0x89])
        }
      }
    ),
  ]

  @Test(arguments: badFiles.indices)
  func `an invalid file drops its frame, and the stream continues`(index: Int) async throws {
    let (name, word, make) = Self.badFiles[index]
    let good = try Sidelight_V1_Image.jpeg(64, 48)
    let answers = try await self.converse([
      // A failure policy is for stages; a bad frame is never shown.
      .open(Self.look) { $0.failurePolicy = .passThrough }, .frame(1, try make()), .frame(2, good),
    ])
    let drop = try #require(answers.drops.first, "\(name)")
    #expect(drop.reason == .invalidFrame)
    #expect(drop.firstSequence == 1)
    #expect(drop.diagnostic.message.contains("frame.image."), "\(drop.diagnostic.message)")
    #expect(drop.diagnostic.message.contains(word), "\(drop.diagnostic.message)")
    #expect(answers.frames.map(\.sequence) == [2])
    #expect(answers.finalStats?.outcomes == 2)
  }

  @Test
  func `consecutive files that cannot be decoded end a session like other errors`() async throws {
    var configuration = ServerConfiguration()
    configuration.maxConsecutiveErrors = 5
    let broken = Sidelight_V1_Image.jpeg(
      [UInt8](try Sidelight_V1_Image.jpeg(64, 48).inline.dropLast(20)))
    let messages = (1 ... 40).map { Sidelight_V1_ClientMessage.frame(UInt64($0), broken) }
    let limited = configuration
    let error = await #expect(throws: RPCError.self) {
      try await self.converse([.open(Self.look)] + messages, limited)
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("errors in a row") == true)
  }

  @Test func `a JPEG may have 10 MB of metadata`() async throws {
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    let segment = [0xFF, 0xE1, 0xFF, 0xFF] + [UInt8](repeating: 0x45, count: 65533)
    let file = [UInt8](image.inline)
    let large = Sidelight_V1_Image.jpeg(
      Array(file[..<2]) + (0 ..< 160).flatMap { _ in segment } + Array(file[2...]))
    let answers = try await self.converse([
      .open(Self.look), .frame(1, image), .frame(2, large),
    ])
    #expect(answers.frames.count == 2)
    #expect(answers.frames.last?.image == answers.frames.first?.image)
  }

  @Test
  func `after a failure the original or a blur is returned in the requested format`() async throws {
    struct Broken: Error {}
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("broken", "Fails.", frame: { _, _, _ in throw Broken() }))
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    for (policy, disposition) in [
      (Sidelight_V1_FailurePolicy.passThrough, Sidelight_V1_Disposition.passedThrough),
      (.blur, .degraded),
    ] {
      let answers = try await withServer(catalogue: catalogue) { _, address in
        try await withStub(address) { stub in
          try await stub.converse([
            .open([.filter("broken")]) {
              $0.failurePolicy = policy
              $0.output.width = 32
            }, .frame(1, image),
          ])
        }
      }
      let frame = try #require(answers.frames.first)
      #expect(frame.disposition == disposition)
      #expect(frame.failure.message.contains("broken"))
      #expect(frame.image.format == .jpeg)
      if policy == .blur {
        #expect((frame.image.width, frame.image.height) == (32, 24))
        #expect(try frame.image.decoded().size == FrameSize(width: 32, height: 24))
      } else {
        #expect(frame.image == image)
      }
    }
  }

  @Test func `an analysis receives the decoded samples of a JPEG`() async throws {
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    let pipeline: Pipeline = [.filter("brightnessStatistics")]
    func figures(_ image: Sidelight_V1_Image) async throws -> [String: Double] {
      let answers = try await self.converse([.open(pipeline), .frame(1, image)])
      return try #require(answers.analyses.first).figures
    }
    let seen = try await figures(image)
    #expect(!seen.isEmpty)
    let decoded = Sidelight_V1_Image(try image.decoded())
    #expect(try await figures(decoded) == seen)
  }

  /// The start of a JPEG: its signature and its frame header.
  static func header(
    marker: UInt8 = 0xC0, precision: UInt8 = 8, width: Int = 8, height: Int = 8,
    components: UInt8 = 3
  ) -> [UInt8] {
    var header: [UInt8] = [0xFF, 0xD8, 0xFF, marker, 0, 8 + 3 * components, precision]
    for side in [height, width] { header += [UInt8(side >> 8), UInt8(side & 0xFF)] }
    header.append(components)
    for component in 1 ... components { header += [component, 0x11, 0] }
    return header
  }
}
