import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightCodecs
package import SidelightKernels
package import SidelightWire
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
    try self.engine.admission.rateLimiter.takeStill(of: request.image.inline.count, by: context.caller.name)
    let pipeline: Pipeline
    do throws(FieldFault) {
      pipeline = try Pipeline(request.pipeline)
    } catch {
      throw error.within("pipeline")
    }
    let output: OutputShape
    do throws(FieldFault) {
      output = try OutputShape(
        request.output, limits: self.engine.admission.frameLimits, allowsPNG: true)
    } catch {
      throw error.within("output")
    }
    let byteCount = request.image.inline.count
    try self.engine.admission.stillImages.reserve(byteCount, for: context.caller.name)
    defer { self.engine.admission.stillImages.release(byteCount, for: context.caller.name) }
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
      catalogue: catalogue, executor: self.engine.processing.executor, codec: self.engine.processing.codec,
      limits: self.engine.admission.frameLimits, maxPlanBytes: self.engine.compiler.maxPlanBytes,
      observer: self.engine.observability.tracing.passObserver)
    do {
      // Stills take turns with the sessions' frames, all stills together as if they were one
      // session's. Decoding and encoding are work for the compute pool too. A filter of a user's own
      // may not come back: then its turn is another's.
      let isCustom = (try? catalogue.resolve(pipeline)).map(self.engine.compiler.isCustom) ?? false
      return try await self.engine.processing.scheduler.withTurn(
        session: .max, deadline: started + Self.patience,
        limit: isCustom ? FrameScheduler.unknownTurnLimit : nil
      ) { bands, meter in
        try await withTaskExecutorPreference(self.engine.processing.compute) {
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
      try await self.engine.processing.scheduler.withTurn(session: .max, deadline: deadline) { _, _ in
        await withTaskExecutorPreference(self.engine.processing.compute) {
          await Self.plan(resolved, geometry, self.engine.compiler.maxPlanBytes)
        }
      }
    }
    try plan.checkCost()
    try self.engine.admission.frameLimits.check(output: plan.output)
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
    let size = try self.engine.admission.frameLimits.check(
      width: request.width == 0 ? 1280 : request.width,
      height: request.height == 0 ? 720 : request.height)
    return FrameGeometry(format: format, size: size, color: ColorDescription(request.color))
  }
}

extension Sidelight_V1_CheckPipelineResponse {
  /// The answer to a check, which has at most a number of bytes: passes that do not fit are left
  /// out from the end and counted, then the text, then the pipeline.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline, which resolves.
  ///   - passes: The passes that it compiles to.
  ///   - limit: The most bytes of the serialized response.
  package init(of pipeline: Pipeline, passes: [PassDescription], atMost limit: Int) {
    self.init()
    var left = limit - Self.omittedPassesBytes
    let message = Sidelight_V1_Pipeline(pipeline)
    if Self.take(message.byteCount, from: &left) { self.pipeline = message }
    let text = pipeline.text
    if text.utf8.count <= ContractLimits.maxPipelineTextBytes,
      Self.take(text.utf8.count, from: &left)
    {
      self.text = text
    }
    for pass in passes {
      let compiled = Sidelight_V1_CompiledPass.with {
        $0.name = pass.name
        $0.filters = pass.filters
        $0.description_p = pass.words.clipped(toBytes: ContractLimits.maxPassDescriptionBytes)
      }
      guard Self.take(compiled.byteCount, from: &left) else { break }
      self.passes.append(compiled)
    }
    self.omittedPasses = UInt32(clamping: passes.count - self.passes.count)
  }

  /// Tag and value of `omitted_passes`.
  private static let omittedPassesBytes = 6
  /// The most bytes of a field's tag and length; all fields here have numbers below 16.
  private static let fieldOverhead = 6

  /// Takes the bytes of a field.
  ///
  /// - Returns: Whether there were as many.
  private static func take(_ byteCount: Int, from left: inout Int) -> Bool {
    guard byteCount + Self.fieldOverhead <= left else { return false }
    left -= byteCount + Self.fieldOverhead
    return true
  }
}

extension ServerContext {
  /// Runs the body of a unary call, and cancels it when the client goes or the deadline passes. gRPC does
  /// not cancel the handler's task: without this it would go on, and keep its message in memory.
  ///
  /// - Throws: CANCELLED once the call is cancelled; what `body` throws.
  func cancellingWithCall<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await body() }
      group.addTask {
        try await self.cancellation.cancelled
        // A shutdown ends this wait too; what is under way may finish.
        guard Task.isShuttingDownGracefully else {
          throw RPCError(
            code: .cancelled, message: "The call was cancelled, or came to its deadline.")
        }
        return nil
      }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }
}
