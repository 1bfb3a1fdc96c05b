import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Pipelines that exceed the memory limits of plans.
@Suite(.timeLimit(.minutes(5))) struct PlanMemoryTests {
  /// A picture of the frame's size, eight bytes a pixel.
  static let greedy: Pipeline = [
    .filter("overlay", ["asset": .text("photo"), "width": .number(320), "fit": .text("stretch")])
  ]
  static let image = Sidelight_V1_Image.noise(.rgb24, 320, 320)

  static func catalogue() throws -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    let photo = try Sidelight_V1_Image.noise(.rgb24, 32, 32).makeFrame()
    catalogue.assets = AssetStore(["photo": .image(try ImageAsset(photo))])
    return catalogue
  }

  /// A configuration whose limit is a little less than the pipeline needs.
  static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.maxPlanBytes = 320 * 320 * 8 - 1
    return configuration
  }

  static func expectRefusal(_ message: String) {
    #expect(message.contains("pipeline"))
    #expect(message.contains("\(320 * 320 * 8)"))
    #expect(message.contains("\(320 * 320 * 8 - 1) (max_plan_bytes)"))
  }

  @Test
  func `frames get the failure policy, with the value and the limit; smaller ones are filtered`()
    async throws
  {
    try await withServer(Self.configuration, catalogue: try Self.catalogue()) { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converseInTurn(
          .open(Self.greedy),
          [
            .frame(1, Self.image), .frame(2, .noise(.rgb24, 64, 64)),
            .select([.filter("colorInvert")]), .frame(3, Self.image),
          ])
        #expect(answers.frames.map(\.disposition) == [.passedThrough, .filtered, .filtered])
        let failure = try #require(answers.frames.first?.failure)
        #expect(failure.code == Int32(RPCError.Code.resourceExhausted.rawValue))
        Self.expectRefusal(failure.message)
      }
    }
  }

  @Test func `apply and CheckPipeline are refused with the value and the limit`() async throws {
    try await withServer(Self.configuration, catalogue: try Self.catalogue()) { _, address in
      try await withStub(address) { stub in
        let still = await #expect(throws: RPCError.self) {
          try await stub.apply(
            .with {
              $0.image = Self.image
              $0.pipeline = Sidelight_V1_Pipeline(Self.greedy)
            })
        }
        let check = await #expect(throws: RPCError.self) {
          try await stub.checkPipeline(
            .with {
              $0.format = .rgb24
              $0.width = 320
              $0.height = 320
              $0.pipeline = Sidelight_V1_Pipeline(Self.greedy)
            })
        }
        for error in [still, check] {
          #expect(error?.code == .resourceExhausted)
          Self.expectRefusal(error?.message ?? "")
        }
      }
    }
  }
}
