import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightCodecs
package import SidelightKernelLanguage
package import SidelightKernels
import SidelightScene
package import SidelightWire
import SwiftProtobuf
import Tracing

/// Handles `Apply` and `CheckPipeline`: work that runs on the compute threads without a session.
///
/// The scheduler grants turns to all these calls together as to one session.
struct StillImageHandler: Sendable {
  let engine: Engine

  /// The deadline assumed by the scheduler for a call, from its arrival.
  private static let defaultBudget = Duration.seconds(1)
  /// The scheduler's session number shared by all calls.
  private static let sessionNumber = UInt64.max

  // MARK: Apply

  @Sendable
  func apply(
    request: ServerRequest<Sidelight_V1_ApplyRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_ApplyResponse> {
    let request = request.message
    let started = self.engine.clock.now()
    guard !request.image.isInSlot else {
      throw FieldViolation(
        field: "image.shared_memory", reason: "names a slot, and only sessions have a ring")
    }
    let admission = self.engine.admission
    let caller = try context.caller(actingFor: request.participant, field: "participant")
    let byteCount = request.image.inline.count
    if admission.rateLimiter.quotas.limitsRates { await admission.fleet.prepare(caller.name) }
    try admission.rateLimiter.takeStill(of: byteCount, by: caller.identity)
    if !caller.participant.isEmpty {
      let span = ServiceContext.current?[CurrentCallSpan.self]
      span?.attributes["sidelight.participant"] = caller.participant
    }
    let pipeline = try RequestedPipeline(request)
    let output = try FieldViolation.within("output") { () throws(FieldViolation) in
      try OutputShape(request.output, limits: admission.frameLimits, allowsPNG: true)
    }
    try admission.stillImages.reserve(byteCount, for: caller.name)
    defer { admission.stillImages.release(byteCount, for: caller.name) }
    let outcome = try await context.cancellingWithCall {
      try await self.apply(
        pipeline, to: request.image, output: output, at: FrameTime(index: request.frameIndex),
        FrameDetails(
          captureNanoseconds: request.captureTimeNs, sequence: request.frameIndex,
          participant: request.participant),
        started, self.engine.catalogue(for: caller))
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

  private func apply(
    _ requested: RequestedPipeline, to image: Sidelight_V1_Image, output: OutputShape,
    at time: FrameTime, _ details: FrameDetails, _ started: Duration, _ catalogue: FilterCatalogue
  ) async throws -> StillImageFilter.Outcome {
    let processing = self.engine.processing
    let still = StillImageFilter(
      catalogue: catalogue, executor: processing.executor, codec: processing.codec,
      limits: self.engine.admission.frameLimits, maxPlanBytes: self.engine.compiler.maxPlanBytes,
      observer: WorkerPassObserver(
        tracing: self.engine.observability.tracing.passObserver, clock: self.engine.clock,
        deadline: nil))
    // `still` throws the error of an invalid pipeline.
    let pipeline = requested.pipeline
    let resolved = (try? catalogue.resolve(pipeline)) ?? .empty
    // Custom filters may not return, so their turn is limited.
    let isCustom = self.engine.compiler.isCustom(resolved)
    do {
      return try await processing.scheduler.withTurn(
        session: Self.sessionNumber, deadline: started + Self.defaultBudget,
        limit: isCustom ? FrameScheduler.unknownTurnLimit : nil
      ) { bands, meter in
        let work = SceneWork(time: time, details: details, deadline: nil, meter: meter)
        return try await SceneWork.$current.withValue(work) {
          try await withTaskExecutorPreference(processing.compute) {
            try await still.apply(
              pipeline, to: image, output: output, at: time, details: details, bands: bands,
              meter: meter)
          }
        }
      }
    } catch let failure as WorkerPassObserver.Failure {
      throw GoogleRPCStatus.failedPass(failure.filters, of: resolved, failure.cause)
    } catch let error as PipelineError {
      throw requested.violation(of: error)
    } catch var violation as FieldViolation where violation.field == "pipeline" {
      violation.field = requested.field
      throw violation
    } catch let error as CodecError {
      throw FieldViolation(field: "output", reason: "\(error)")
    }
  }

  // MARK: CheckPipeline

  /// Compiles a pipeline and describes the result.
  @Sendable
  func checkPipeline(
    request: ServerRequest<Sidelight_V1_CheckPipelineRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_CheckPipelineResponse> {
    let request = request.message
    let geometry = try self.geometry(of: request)
    let caller = try context.caller(actingFor: request.participant, field: "participant")
    let requested = try RequestedPipeline(request.source)
    let resolved = try requested.resolved(in: self.engine.catalogue(for: caller))
    let (processing, maxBytes) = (self.engine.processing, self.engine.compiler.maxPlanBytes)
    let deadline = self.engine.clock.now() + Self.defaultBudget
    // Compilation takes time and memory, so it waits for a turn.
    let plan = try await context.cancellingWithCall {
      try await processing.scheduler.withTurn(
        session: Self.sessionNumber, deadline: deadline
      ) { _, _ in
        await withTaskExecutorPreference(processing.compute) {
          await Self.plan(resolved, geometry, maxBytes)
        }
      }
    }
    try plan.checkCost(field: requested.field)
    try self.engine.admission.frameLimits.check(output: plan.output, field: requested.field)
    let response = Sidelight_V1_CheckPipelineResponse(
      of: requested.pipeline, passes: plan.passes, kernels: resolved.kernels,
      atMost: request.byteCount + ContractLimits.maxCheckGrowthBytes)
    return ServerResponse(message: response)
  }

  @concurrent
  private static func plan(
    _ pipeline: ResolvedPipeline, _ geometry: FrameGeometry, _ maxBytes: Int
  ) async -> Plan {
    pipeline.plan(for: geometry, maxBytes: maxBytes)
  }

  private func geometry(
    of request: Sidelight_V1_CheckPipelineRequest
  ) throws(FieldViolation) -> FrameGeometry {
    let format = request.format == .unspecified ? .i420 : PixelFormat(request.format)
    guard let format else {
      throw FieldViolation(
        field: "format", reason: "is \(request.format), which is not a raw pixel format")
    }
    let size = try self.engine.admission.frameLimits.check(
      width: request.width == 0 ? 1280 : request.width,
      height: request.height == 0 ? 720 : request.height)
    return FrameGeometry(format: format, size: size, color: ColorDescription(request.color))
  }
}

extension ServerContext {
  /// Runs the body of a unary call, and cancels it when the client disconnects or the deadline
  /// passes. gRPC does not cancel the handler's task, which would otherwise continue, and keep its
  /// message in memory.
  ///
  /// - Throws: CANCELLED once the call is cancelled; the error of `body`.
  fileprivate func cancellingWithCall<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await body() }
      group.addTask {
        try await self.cancellation.cancelled
        // A shutdown ends this wait too; the call may finish.
        guard Task.isShuttingDownGracefully else {
          throw RPCError(
            code: .cancelled, message: "The call was cancelled, or its deadline has passed.")
        }
        return nil
      }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }

  /// Runs the body of a streaming call until the client disconnects, the deadline passes or the
  /// server shuts down. gRPC does not end the handler then.
  func untilCancelled(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try? await self.cancellation.cancelled }
      group.addTask { try await body() }
      _ = try await group.next()
      group.cancelAll()
    }
  }
}

extension Sidelight_V1_CheckPipelineResponse {
  /// Describes a valid pipeline in a bounded number of bytes. If the description is too long, omits
  /// the last kernels and passes, and counts the passes; then the text, then the pipeline.
  ///
  /// - Parameters:
  ///   - passes: The passes that it compiles to.
  ///   - kernels: The kernels of its stages, which are omitted first.
  ///   - limit: The maximum size of the serialized response, in bytes.
  package init(
    of pipeline: Pipeline, passes: [PassDescription],
    kernels: [(stage: String, text: KernelText)] = [], atMost limit: Int
  ) {
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
        $0.description_p = pass.summary.clipped(toBytes: ContractLimits.maxPassDescriptionBytes)
      }
      guard Self.take(compiled.byteCount, from: &left) else { break }
      self.passes.append(compiled)
    }
    self.omittedPasses = UInt32(clamping: passes.count - self.passes.count)
    for (stage, text) in kernels {
      let kernel = Sidelight_V1_KernelStage.with {
        $0.stage = stage
        $0.kernel = Sidelight_V1_FilterDescription(text.description)
        $0.nanosecondsPerPixel = text.nanosecondsPerPixel
      }
      guard Self.take(kernel.byteCount, from: &left) else { break }
      self.kernels.append(kernel)
    }
  }

  /// The bytes of the tag and the value of `omitted_passes`.
  private static let omittedPassesBytes = 6
  /// The maximum size of a field's tag and length, in bytes; all fields of the message have numbers
  /// below 16.
  private static let fieldOverhead = 6

  /// Takes the bytes of a field from the remaining bytes.
  ///
  /// - Returns: Whether enough bytes were left.
  private static func take(_ byteCount: Int, from left: inout Int) -> Bool {
    guard byteCount + Self.fieldOverhead <= left else { return false }
    left -= byteCount + Self.fieldOverhead
    return true
  }
}
