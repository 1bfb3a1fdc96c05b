import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The size of the answer to `CheckPipeline`.
@Suite(.timeLimit(.minutes(5))) struct CheckPipelineTests {
  static let passes = (0 ..< 50).map { number in
    PassDescription(
      filters: Array(repeating: "filter\(number)", count: number), kind: .pointwise,
      summary: String(repeating: "word ", count: number * 5))
  }

  @Test func `a response never exceeds its limit; omitted passes are counted`() {
    let pipeline = Pipeline(stages: (0 ..< 20).map { _ in .filter("sepiaTone") })
    let whole = Sidelight_V1_CheckPipelineResponse(
      of: pipeline, passes: Self.passes, atMost: 1 << 20)
    #expect(whole.omittedPasses == 0)
    #expect(whole.passes.map(\.filters) == Self.passes.map(\.filters))
    #expect(whole.text == pipeline.text)
    #expect(whole.passes.allSatisfy { $0.description_p.utf8.count <= 512 })
    for limit in stride(from: 10, to: 40_000, by: 37) {
      let answer = Sidelight_V1_CheckPipelineResponse(
        of: pipeline, passes: Self.passes, atMost: limit)
      #expect(answer.byteCount <= limit)
      #expect(answer.passes == Array(whole.passes.prefix(answer.passes.count)))
      #expect(answer.passes.count + Int(answer.omittedPasses) == Self.passes.count)
    }
  }

  @Test func `a text that could not be parsed again is omitted`() throws {
    let weights = ParameterValue.vector(Array(repeating: 0.012345678901234, count: 25))
    let pipeline = Pipeline(
      stages: (0 ..< 64).map { _ in .filter("convolution5X5", ["weights": weights]) })
    #expect(pipeline.text.utf8.count > PipelineText.maxLength)
    let answer = Sidelight_V1_CheckPipelineResponse(of: pipeline, passes: [], atMost: 1 << 20)
    #expect(answer.text.isEmpty)
    #expect(try Pipeline(answer.pipeline) == pipeline)
  }

  /// Small requests that compile to many passes with long descriptions.
  static let pipelines: [Pipeline] = {
    func nested(_ stages: [Stage]) -> Stage {
      // Mixed in and confined to a region at all eight levels.
      (2 ..< Pipeline.maxDepth).reduce(Stage(.pipeline(Pipeline(stages: stages)))) { inner, _ in
        Stage(
          .pipeline([inner]), mix: 0.123456789012345,
          region: Region(
            origin: FramePoint(x: Length(1), y: Length(1)), width: Length(9), height: Length(9)))
      }
    }
    func mixed(_ name: String) -> Stage {
      Stage(.filter(FilterCall(name: name)), mix: 0.123456789012345)
    }
    let kinds = FilterCatalogue.builtIn.descriptions
      .filter { $0.parameters.allSatisfy { $0.defaultValue != nil } }.map(\.name)
    return kinds.map { name in Pipeline(stages: (0 ..< 64).map { _ in mixed(name) }) } + [
      Pipeline(stages: [nested((0 ..< 56).map { _ in mixed("vignette") })]),
      Pipeline(
        stages: (0 ..< 64).map { $0.isMultiple(of: 2) ? mixed("vignette") : mixed("bloom") }),
      Pipeline(
        stages: (0 ..< 64).map { number in
          Stage(
            .pipeline(Pipeline(stages: [], workingSpace: .sRGBLinear)), id: "\(number)")
        }),
      Pipeline(
        stages: (0 ..< 63).map { mixed($0.isMultiple(of: 2) ? "glow" : "crop") },
        workingSpace: .sRGBLinear),
    ]
  }()

  @Test
  func `for built-in filters a response is at most 64 KiB longer than its request`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        var answers = 0
        for pipeline in Self.pipelines {
          for text in [true, false] {
            let request = Sidelight_V1_CheckPipelineRequest.with {
              if text {
                $0.text = pipeline.text
              } else {
                $0.pipeline = Sidelight_V1_Pipeline(pipeline)
              }
              $0.format = .bgra8
              $0.width = 64
              $0.height = 64
            }
            // Some filters make frames too large, or plans that hold too much: an error is short.
            guard let answer = try? await stub.checkPipeline(request) else { continue }
            #expect(answer.byteCount <= request.byteCount + ContractLimits.maxCheckGrowthBytes)
            answers += 1
          }
        }
        #expect(answers > 50)
      }
    }
  }

  @Test
  func `filters with long descriptions do not make a response exceed the limit`() async throws {
    var catalogue = FilterCatalogue.builtIn
    let name = String(repeating: "n", count: 64)
    catalogue.register(CustomFilter(name, "Has a long name.", color: Brighter()))
    let count = 64
    try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        let request = Sidelight_V1_CheckPipelineRequest.with {
          $0.pipeline = Sidelight_V1_Pipeline(
            Pipeline(stages: (0 ..< count).map { _ in .filter(name) }))
        }
        let answer = try await stub.checkPipeline(request)
        #expect(answer.byteCount <= request.byteCount + ContractLimits.maxCheckGrowthBytes)
        #expect(answer.passes.allSatisfy { $0.description_p.utf8.count <= 512 })
      }
    }
  }

  private struct Brighter: ColorKernel {
    func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel { pixel }
  }
}
