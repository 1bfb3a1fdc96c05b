import Foundation
import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightScene
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Testing

/// Frames with a picture in alpha, which no search for faces sees.
@Suite(.timeLimit(.minutes(5))) struct `Pictures in alpha` {
  /// A finder that sees a face in the upper left quarter of every picture.
  private struct Finder: FaceFinder {
    func faces(in picture: LumaPicture) -> [DetectedFace] {
      [DetectedFace(center: PicturePoint(x: 20, y: 20), size: 24)]
    }
  }

  /// Optical flow of a picture that rests.
  private struct Rest: PointTracker {
    func points(of box: FaceBox, in picture: LumaPicture) -> [PicturePoint] {
      (0 ..< 16).map { number in
        box.point(u: 0.2 + 0.2 * Double(number % 4), v: 0.2 + 0.2 * Double(number / 4))
      }
    }

    func follow(
      _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
    ) -> [PicturePoint?] { points }
  }

  private static let catalogue: FilterCatalogue = {
    var catalogue = FilterCatalogue.builtIn
    let tools = FaceTools(finder: { Finder() }, points: { Rest() })
    catalogue.register(FacePrivacyFilter.pixellateDescription) {
      FacePrivacyFilter($0, style: .mosaic, tools: tools)
    }
    catalogue.register(
      CustomFilter("broken", "Fails.", frame: { _, _, _ in throw MarkFilter.Broken() }))
    return catalogue
  }()

  static let width = 160
  static let height = 90

  /// A grey picture whose fourth channel is a pattern of stripes.
  static func image(_ alpha: AlphaMode) throws -> Sidelight_V1_Image {
    var bytes = Data(count: 4 * Self.width * Self.height)
    for y in 0 ..< Self.height {
      for x in 0 ..< Self.width {
        let first = 4 * (y * Self.width + x)
        let opacity: UInt8 = (x / 3 + y / 2).isMultiple(of: 2) ? 40 : 240
        for channel in 0 ..< 3 {
          bytes[first + channel] = alpha == .premultiplied ? 30 : 200 - UInt8(x / 40)
        }
        bytes[first + 3] = opacity
      }
    }
    let layout = try FrameLayout(
      packed: .rgba8, size: FrameSize(width: Self.width, height: Self.height))
    return Sidelight_V1_Image(
      Frame(
        layout: layout, color: ColorDescription(alpha: alpha),
        buffer: PixelBuffer(copying: [UInt8](bytes))))
  }

  /// The sum of the differences of neighbours of a channel along rows, for one pixel.
  static func detail(_ image: Sidelight_V1_Image, channel: Int) throws -> Double {
    let frame = try image.format == .jpeg ? image.decoded(as: .rgb24) : image.makeFrame()
    let bytes = frame.bytes
    let step = bytes.count / (Self.width * Self.height)
    var sum = 0
    for y in 0 ..< Self.height {
      for x in 1 ..< Self.width {
        let index = (y * Self.width + x) * step + channel
        sum += abs(Int(bytes[index]) - Int(bytes[index - step]))
      }
    }
    return Double(sum) / Double(Self.width * Self.height)
  }

  @Test(arguments: AlphaMode.allCases)
  func `no frame of a pipeline that hides faces shows alpha`(_ alpha: AlphaMode) async throws {
    let image = try Self.image(alpha)
    #expect(try Self.detail(image, channel: 3) > 30)
    let answers = try await withServer(catalogue: Self.catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("facePixellate")]), (1 ... 30).map { .frame($0, image) })
      }
    }
    #expect(answers.frames.count == 30)
    for frame in answers.frames {
      #expect(try Self.detail(frame.image, channel: 3) == 0, "\(frame.sequence)")
    }
    let first = try #require(answers.frames.first)
    #expect(try Self.detail(first.image, channel: 0) < 2, "the whole frame is covered")
    // Later only the face is covered: the content that alpha showed is in the colours, which are
    // searched.
    let last = try #require(answers.frames.last)
    if alpha == .straight { #expect(try Self.detail(last.image, channel: 0) > 10) }
  }

  @Test(arguments: AlphaMode.allCases)
  func `a failed frame and a still image do not show alpha either`(
    _ alpha: AlphaMode
  ) async throws {
    let image = try Self.image(alpha)
    let (answers, still) = try await withServer(catalogue: Self.catalogue) { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converseInTurn(
          .open([.filter("facePixellate"), .filter("broken")]), [.frame(1, image)])
        let still = try await stub.apply(
          .with {
            $0.pipeline = Sidelight_V1_Pipeline([.filter("facePixellate")])
            $0.image = image
          }
        ).image
        return (answers, still)
      }
    }
    let failed = try #require(answers.frames.first)
    #expect(failed.disposition == .degraded)
    for result in [failed.image, still] {
      #expect(try Self.detail(result, channel: 3) == 0)
    }
  }

  @Test(arguments: [Sidelight_V1_PixelFormat.i420, .rgb24, .gray8, .jpeg], AlphaMode.allCases)
  func `outputs that compose alpha do not show it`(
    _ format: Sidelight_V1_PixelFormat, _ alpha: AlphaMode
  ) async throws {
    let image = try Self.image(alpha)
    let answers = try await withServer(catalogue: Self.catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("facePixellate")]) { $0.output.format = format }, [.frame(1, image)])
      }
    }
    let frame = try #require(answers.frames.first)
    #expect(frame.image.format == format)
    #expect(try Self.detail(frame.image, channel: 0) < 2)
  }
}
