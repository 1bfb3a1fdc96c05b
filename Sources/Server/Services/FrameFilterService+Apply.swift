import GRPCCore
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FrameFilterService {
  func apply(
    request: ServerRequest<Sidelight_V1_ApplyRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_ApplyResponse> {
    let request = request.message
    let started = self.engine.clock.now()
    guard !request.image.isInSlot else {
      throw FieldFault(
        field: "image.shared_memory", reason: "names a slot, and only sessions have a ring")
    }
    try self.engine.rateLimiter.takeStill(of: request.image.inline.count, by: context.caller.name)
    let pipeline: Pipeline
    do throws(FieldFault) {
      pipeline = try Pipeline(request.pipeline)
    } catch {
      throw error.within("pipeline")
    }
    let output: OutputShape
    do throws(FieldFault) {
      output = try OutputShape(
        request.output, limits: self.engine.frameLimits, allowsPNG: true)
    } catch {
      throw error.within("output")
    }
    let byteCount = request.image.inline.count
    try self.engine.stills.reserve(byteCount, for: context.caller.name)
    defer { self.engine.stills.release(byteCount, for: context.caller.name) }
    let outcome = try await context.cancellingWithCall {
      try await self.apply(
        pipeline, to: request.image, output: output, at: FrameMoment(index: request.frameIndex),
        started, self.engine.catalogue(for: context.caller))
    }
    let elapsed = (self.engine.clock.now() - started).wireMicroseconds
    let response = Sidelight_V1_ApplyResponse.with {
      $0.image = outcome.image
      $0.disposition = outcome.isFiltered ? .filtered : .passedThrough
      $0.timing.processUs = elapsed
      $0.timing.totalUs = elapsed
    }
    return ServerResponse(message: response)
  }

  /// Stills and checks stand behind frames that have less time than this.
  static let patience = Duration.seconds(1)

  private func apply(
    _ pipeline: Pipeline, to image: Sidelight_V1_Image, output: OutputShape,
    at time: FrameMoment, _ started: Duration, _ catalogue: FilterCatalogue
  ) async throws -> StillImageFilter.Outcome {
    let still = StillImageFilter(
      catalogue: catalogue, executor: self.engine.executor, codec: self.engine.codec,
      limits: self.engine.frameLimits, maxPlanBytes: self.engine.maxPlanBytes,
      observer: self.engine.tracing.passObserver)
    do {
      // Stills take turns with the sessions' frames, all stills together as if they were one
      // session's. Decoding and encoding are work for the compute pool too. A filter of a user's own
      // may not come back: then its turn is another's.
      let isCustom = (try? catalogue.resolve(pipeline)).map(self.engine.isCustom) ?? false
      return try await self.engine.scheduler.withTurn(
        session: .max, deadline: started + Self.patience,
        limit: isCustom ? FrameScheduler.unknownTurnLimit : nil
      ) { bands, meter in
        try await withTaskExecutorPreference(self.engine.compute) {
          try await still.apply(
            pipeline, to: image, output: output, at: time, bands: bands, meter: meter)
        }
      }
    } catch let error as PipelineError {
      throw FieldFault(error).within("pipeline")
    } catch let error as CodecError {
      throw FieldFault(field: "output", reason: "\(error)")
    }
  }
}
