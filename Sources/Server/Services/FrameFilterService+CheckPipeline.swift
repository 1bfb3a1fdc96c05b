import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FrameFilterService {
  func checkPipeline(
    request: Sidelight_V1_CheckPipelineRequest, context: ServerContext
  ) async throws -> Sidelight_V1_CheckPipelineResponse {
    let geometry = try self.geometry(of: request)
    let pipeline: Pipeline
    do {
      switch request.source {
      case .pipeline(let wire)?: pipeline = try Pipeline(wire)
      case .text, nil: throw FieldFault(field: "source", reason: "neither pipeline nor text is set")
      }
    }
    let plan: Plan
    do throws(PipelineError) {
      plan = try self.engine.catalogue.resolve(pipeline).plan(for: geometry)
    } catch {
      throw FieldFault(error).within("pipeline")
    }
    return .with {
      $0.pipeline = Sidelight_V1_Pipeline(pipeline)
      $0.passes = plan.passes.map { pass in
        .with {
          $0.name = pass.name
          $0.filters = pass.filters
          $0.description_p = pass.words
        }
      }
    }
  }

  private func geometry(
    of request: Sidelight_V1_CheckPipelineRequest
  ) throws(FieldFault) -> FrameGeometry {
    let format = request.format == .unspecified ? .i420 : PixelFormat(request.format)
    guard let format else {
      throw FieldFault(field: "format", reason: "\(request.format) is no raw pixel format")
    }
    let size = try self.engine.frameLimits.check(
      width: request.width == 0 ? 1280 : request.width,
      height: request.height == 0 ? 720 : request.height)
    return FrameGeometry(format: format, size: size, color: ColorDescription(request.color))
  }
}
