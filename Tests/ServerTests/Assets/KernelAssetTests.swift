import Foundation
import GRPCCore
import GRPCProtobuf
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Kernels: uploads, their descriptions, and their cost before the first frame.
@Suite(.timeLimit(.minutes(5))) struct KernelAssetTests {
  static let text = """
    kernel gain "Multiplies colour."
    param gain: 0.5 in 0..2 "The factor."
    return pow(color.rgb, vec3(gain))
    """

  @Test func `an upload describes the parameters, and pipelines take them`() async throws {
    try await withServer { _, address in
      try await AssetClient.with(address) { client in
        let response = try await client.put("gain.kernel", Array(Self.text.utf8))
        #expect(response.asset.kind == .kernel)
        #expect(response.asset.kernel.name == "gain")
        #expect(response.asset.kernel.summary == "Multiplies colour.")
        #expect(response.asset.kernel.reach == .pixel)
        let parameter = try #require(response.asset.kernel.parameters.first)
        #expect(parameter.name == "gain")
        #expect(parameter.kind == .number)
        #expect(parameter.defaultValue.number == 0.5)
        #expect(parameter.limits.maximum == 2)
        let listed = try await client.assets.listAssets(.init()).assets
        #expect(listed.map(\.kernel) == [response.asset.kernel])

        let request = Sidelight_V1_CheckPipelineRequest.with {
          $0.text = "sepiaTone, [kernel(asset: \"gain.kernel\", gain: 1.5), kernel(source: color)]"
        }
        let check = try await client.stub.checkPipeline(request)
        #expect(
          check.kernels.map(\.stage) == [
            "stages[1].pipeline.stages[0]", "stages[1].pipeline.stages[1]",
          ])
        #expect(check.kernels[0].kernel == response.asset.kernel)
        #expect(check.kernels[0].nanosecondsPerPixel > 0)
        #expect(check.kernels[1].nanosecondsPerPixel == 0)
      }
    }
  }

  @Test func `an invalid kernel is refused with its position, and nothing is stored`() async throws
  {
    try await withServer { _, address in
      try await AssetClient.with(address) { client in
        let parts = try await ErrorParts.of {
          try await client.put("x", Array("kernel x\nreturn lumma(color)".utf8))
        }
        #expect(parts.code == .invalidArgument)
        #expect(parts.reason == "ASSET_KERNEL_INVALID")
        #expect(parts.line == 2)
        #expect(parts.column == 8)
        #expect(parts.suggestion == "luma")
        #expect(try await client.names() == [])
      }
    }
  }

  @Test func `the cost is known before the first frame`() {
    let unknown = CostEstimate()
    #expect(unknown.expected == nil)
    let estimate = CostEstimate(priorWork: .milliseconds(40), threads: 4)
    #expect(estimate.work == .milliseconds(40))
    #expect(estimate.expected == .milliseconds(10))
    estimate.recordRefusal()
    #expect(estimate.expected == .milliseconds(5))
    estimate.record(.milliseconds(7))
    #expect(estimate.expected == .milliseconds(7))
    #expect(estimate.work == .milliseconds(7))
  }

  @Test func `a plan predicts the time of its kernels`() throws {
    let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 1000, height: 1000))
    func time(_ source: String) throws -> Duration {
      try FilterCatalogue.builtIn.resolve([.filter("kernel", ["source": .text(source)])])
        .plan(for: geometry).kernelTime
    }
    #expect(try time("color.bgr") == .zero)
    // A curve of the samples would be a table.
    let product = try time("color.rgb * color.gbr")
    #expect(product > .zero)
    #expect(try time("pow(color.rgb, color.gbr)") > product)
    #expect(try time("sample(1, 0) * color") > .zero)
  }
}
