import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FrameFilterService {
  func checkPipeline(
    request: ServerRequest<Sidelight_V1_CheckPipelineRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_CheckPipelineResponse> {
    let request = request.message
    let geometry = try self.geometry(of: request)
    let (pipeline, resolved) = try Self.resolve(
      request.source, with: self.engine.catalogue(for: context.caller))
    // In turn with stills, and as work of theirs: planning takes time and memory.
    let deadline = self.engine.clock.now() + Self.patience
    let plan = try await context.cancellingWithCall {
      try await self.engine.scheduler.withTurn(session: .max, deadline: deadline) { _, _ in
        await withTaskExecutorPreference(self.engine.compute) {
          await Self.plan(resolved, geometry, self.engine.maxPlanBytes)
        }
      }
    }
    try plan.checkCost()
    try self.engine.frameLimits.check(output: plan.output)
    let response = Sidelight_V1_CheckPipelineResponse(
      of: pipeline, passes: plan.passes,
      atMost: request.byteCount + ContractLimits.maxCheckGrowthBytes)
    return ServerResponse(message: response)
  }

  @concurrent
  private static func plan(
    _ pipeline: ResolvedPipeline, _ geometry: FrameGeometry, _ maxBytes: Int
  ) async -> Plan {
    pipeline.plan(for: geometry, maxBytes: maxBytes)
  }

  private static func resolve(
    _ source: Sidelight_V1_CheckPipelineRequest.OneOf_Source?, with catalogue: FilterCatalogue
  ) throws(FieldFault) -> (Pipeline, ResolvedPipeline) {
    switch source {
    case .pipeline(let wire)?:
      do {
        let pipeline = try Pipeline(wire)
        return (pipeline, try catalogue.resolve(pipeline))
      } catch let error as PipelineError {
        throw FieldFault(error).within("pipeline")
      } catch let error as FieldFault {
        throw error.within("pipeline")
      } catch {
        throw FieldFault(code: .internalError, field: "pipeline", reason: "\(error)")
      }
    case .text(let text)?:
      do throws(PipelineTextError) {
        let parsed = try PipelineText(text)
        let resolved = try parsed.resolve { pipeline throws(PipelineError) in
          try catalogue.resolve(pipeline)
        }
        return (parsed.pipeline, resolved)
      } catch {
        throw FieldFault(field: "text", reason: "\(error)")
      }
    case nil: throw FieldFault(field: "source", reason: "neither pipeline nor text is set")
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
