import GRPCCore
import SidelightClient
import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// `Apply` and `Process` give the same bytes for every filter, also for filters that change from
/// frame to frame.
@Suite(.timeLimit(.minutes(10))) struct StillFrameIndexTests {
  /// The built-in catalogue, with the images and the table that its filters may name.
  private static func catalogue() throws -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    let table = (0 ..< 8).map { "\($0 & 1) \(1 - ($0 >> 1 & 1)) \(Double($0 >> 2) * 0.8)" }
    catalogue.assets = AssetStore([
      "image": .image(try ImageAsset(try Sidelight_V1_Image.noise(.rgba8, 9, 13).makeFrame())),
      "table": .cube(
        try CubeFile.read(Array(("LUT_3D_SIZE 2\n" + table.joined(separator: "\n")).utf8))),
      "kernel": .kernel(
        try KernelAsset(Array("kernel swap return mix(color.bgr, uv.xyx, 0.3)".utf8))),
    ])
    return catalogue
  }

  /// Every filter of the catalogue, with settings that have an effect.
  private static let pipelines: [Pipeline] = FilterCatalogue.builtIn.descriptions.map { filter in
    var settings = Self.settings[filter.name] ?? [:]
    for parameter in filter.parameters {
      guard let kind = parameter.assetKind else { continue }
      switch kind {
      case .image: settings[parameter.name] = .text("image")
      case .cube: settings[parameter.name] = .text("table")
      case .kernel: settings[parameter.name] = .text("kernel")
      // Text is drawn using the system's fonts by default.
      case .font: continue
      }
    }
    return [.filter(filter.name, settings)]
  }

  private static let settings: [String: [String: ParameterValue]] = [
    "grain": ["amount": .number(0.5), "monochrome": .flag(false)],
    "gaussianBlur": ["radius": .number(2)],
    "exposureAdjust": ["ev": .number(0.5)],
    "hueAdjust": ["angle": .number(1)],
    "crop": ["width": .number(9)],
    "scale": ["width": .number(21)],
    "affineTransform": ["transform": .vector([0.9, 0.1, -0.1, 0.9, 1, 2])],
  ]

  @Test(
    arguments: [PixelFormat.bgra8, .rgb24, .gray8, .i420, .nv12])
  func `for every filter a still image equals the frame of a session with its index`(
    format: PixelFormat
  ) async throws {
    #expect(Self.pipelines.count > 40)
    let image = Sidelight_V1_Image.noise(format, 35, 23)
    try await withServer(catalogue: try Self.catalogue()) { _, address in
      try await withStub(address) { stub in
        for pipeline in Self.pipelines {
          let frames = try await stub.converse(
            [.open(pipeline)] + (1 ... 3).map { .frame(10 * $0, image) }
          ).frames
          try #require(frames.count == 3, "\(pipeline)")
          for (index, frame) in frames.enumerated() {
            let still = try await stub.apply(
              .with {
                $0.image = image
                $0.pipeline = Sidelight_V1_Pipeline(pipeline)
                $0.frameIndex = UInt64(index)
              })
            let isIdentical = still.image == frame.image
            #expect(isIdentical, "frame \(index) of \(pipeline)")
          }
        }
      }
    }
  }

  @Test
  func `grain differs from frame to frame, and a still image without an index is the first frame`()
    async throws
  {
    let image = Sidelight_V1_Image.noise(.bgra8, 35, 23)
    let pipeline: Pipeline = [.filter("grain", ["amount": .number(0.5)])]
    try await withServer { _, address in
      try await withStub(address) { stub in
        func still(_ index: UInt64?) async throws -> [UInt8] {
          [UInt8](
            try await stub.apply(
              .with {
                $0.image = image
                $0.pipeline = Sidelight_V1_Pipeline(pipeline)
                if let index { $0.frameIndex = index }
              }
            ).image.inline)
        }
        let (none, first, last) = (try await still(nil), try await still(0), try await still(.max))
        #expect(none == first)
        #expect(first != last)
        #expect(try await still(1) != first)
      }
    }
  }

  @Test func `refused frames count for the frame index`() async throws {
    let image = Sidelight_V1_Image.noise(.bgra8, 35, 23)
    let pipeline: Pipeline = [.filter("grain", ["amount": .number(0.5)])]
    try await withServer { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse([
          .open(pipeline), .frame(1, image),
          .frame(2, image) { $0.image.width = 34 },
          .frame(900, image),
        ])
        #expect(answers.frames.map(\.sequence) == [1, 900])
        #expect(answers.drops.count == 1)
        let still = try await stub.apply(
          .with {
            $0.image = image
            $0.pipeline = Sidelight_V1_Pipeline(pipeline)
            $0.frameIndex = 2
          })
        let isIdentical = still.image == answers.frames.last?.image
        #expect(isIdentical)
      }
    }
  }

  @Test func `the client library sends the frame index`() async throws {
    let pipeline: Pipeline = [.filter("grain", ["amount": .number(0.5)])]
    let still = try ImageEncoder(.png()).encode(
      try Sidelight_V1_Image.noise(.rgb24, 35, 23).makeFrame())
    try await withServer { _, address in
      try await SidelightClient.connect(to: address) { client in
        let first = try await client.apply(pipeline, toFile: still, as: .png)
        #expect(try await client.apply(pipeline, toFile: still, as: .png, frameIndex: 0) == first)
        #expect(try await client.apply(pipeline, toFile: still, as: .png, frameIndex: 7) != first)
      }
    }
  }
}
