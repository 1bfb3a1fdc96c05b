import SidelightCodecs
import SidelightKernels
import SidelightScene
import SidelightTransport
import SidelightWire
import Synchronization

/// Filters one frame using a compiled pipeline: decodes an image file, runs the plan, encodes the
/// result.
struct PlanRunner: Sendable {
  let processing: FrameProcessing
  let limits: FrameLimits
  let resolver: FrameResolver
  let scene: SessionScene
  /// The session's label, which frames may show.
  let label: String
  /// The participant whose video the session filters, or empty for the caller itself.
  let participant: String

  init(_ session: Session) {
    self.processing = session.engine.processing
    self.limits = session.engine.admission.frameLimits
    self.resolver = session.resolver
    self.scene = session.scene
    self.label = session.handle.label
    self.participant = session.handle.identity.participant
  }

  /// Filters a frame using a number of threads.
  ///
  /// - Parameters:
  ///   - transition: The mix with the result of an earlier pipeline, or `nil` outside of
  ///     transitions.
  ///   - outcome: The message without the picture.
  ///   - isReduced: Whether to leave out optional work on the scene.
  ///   - hides: Whether the plan replaces one that hides the frame.
  ///   - bands: The number of threads to use for every pass.
  ///   - meter: Measures the work of all threads.
  /// - Returns: The picture, and the work of the transition in it.
  func run(
    _ compiled: CompiledPipeline, on frame: IncomingFrame, in transition: TransitionWork? = nil,
    outcome: Sidelight_V1_FilteredFrame, isReduced: Bool = false, hides: Bool = false, bands: Int,
    observer: some PassObserver, meter: WorkMeter
  ) async throws -> (picture: OutgoingPicture, transition: TransitionWork.Report) {
    let codec = self.processing.codec
    let executor = self.processing.executor
    let decoded = try await codec.decode(frame.picture, observer: observer)
    frame.samples?.resolve(.decoded(decoded))
    if case .file = frame.picture { self.resolver.decodingErrors.reset() }
    let time = FrameTime(index: frame.arrival, arrival: frame.received)
    let earlier = transition?.transition.earlier.plan
    let plans = [compiled.plan] + (earlier.map { [$0] } ?? [])
    let input = self.input(
      decoded, of: frame, protects: hides || plans.contains(where: \.protects),
      hidesFaces: hides || plans.contains(where: \.hidesFaces))
    let details = self.details(of: frame)
    let work = SceneWork(
      time: time, details: details, deadline: observer.deadline, meter: meter)
    let scene = try await SceneWork.$current.withValue(work) {
      try await self.scene(
        of: input, frame, at: time, for: compiled.plan, from: earlier, details,
        isReduced: isReduced, observer)
    }

    func filter(into target: consuming MutableFrame) async throws -> TransitionWork.Report {
      let result = try await executor.run(
        compiled.plan, on: input, into: target, at: time, scene: scene.later, details: details,
        bands: bands, observer: observer, meter: meter)
      guard let transition, let earlier else { return TransitionWork.Report() }
      return try await transition.mix(
        into: MutableFrame(layout: result.layout, color: result.color, buffer: result.buffer),
        of: compiled, executor, bands: bands, observer: observer, meter: meter
      ) {
        try await executor.run(
          earlier, on: input, at: time, scene: scene.earlier, details: details, bands: bands,
          observer: observer, meter: meter)
      }
    }

    let keepsSamples = compiled.output.keepsSamples
    guard compiled.delivery.coding.isCompressed || keepsSamples else {
      if transition == nil, self.maySendForeignResult(of: compiled.plan, frame) {
        let result = try await executor.run(
          compiled.plan, on: input, keepsForeignResult: true, at: time, scene: scene.later,
          details: details, bands: bands, observer: observer, meter: meter)
        let picture = try OutgoingPicture(
          sending: result.shown(compiled.delivery.orientation), outcome: outcome)
        return (picture, TransitionWork.Report())
      }
      // The last pass writes into the outgoing message, or into the client's slot.
      let picture = try OutgoingPicture(
        shapedAs: compiled.plan.output, orientation: compiled.delivery.orientation,
        outcome: outcome, ring: self.resolver.ring(for: frame))
      return (picture, try await filter(into: picture.frame))
    }
    var report = TransitionWork.Report()
    let result: Frame
    if transition == nil {
      result = try await executor.run(
        compiled.plan, on: input, at: time, scene: scene.later, details: details, bands: bands,
        observer: observer, meter: meter)
    } else {
      // Not the input's memory, which a plan without passes returns.
      let target = try self.processing.pool.makeFrame(compiled.plan.output)
      let (layout, buffer) = (target.layout, target.buffer)
      report = try await filter(into: target)
      result = Frame(layout: layout, color: compiled.plan.output.color, buffer: buffer)
    }
    if keepsSamples {
      let shown = result.shown(compiled.delivery.orientation)
      return (OutgoingPicture(samples: shown, outcome: outcome), report)
    }
    do {
      var outcome = outcome
      if let codec = compiled.delivery.coding.codec {
        // It is encoded when it is written; the slot belongs to the client again then.
        let isInSlot = frame.isInSharedMemory && result.buffer === input.buffer
        let shown = (isInSlot ? result.copy(in: self.processing.pool) : result)
          .shown(compiled.delivery.orientation)
        return (
          OutgoingPicture(
            unencoded: UnencodedPicture(shown, as: codec, of: frame), outcome: outcome), report
        )
      }
      outcome.image = Sidelight_V1_Image()
      outcome.image.describe(of: result.size, orientation: compiled.delivery.orientation)
      let picture = try await codec.withJPEG(
        of: result, compiled.output.jpeg, observer: observer
      ) { [outcome] file in
        try OutgoingPicture(
          compressed: file, of: result.shown(compiled.delivery.orientation), outcome: outcome,
          limits: self.limits)
      }
      return (picture, report)
    } catch var expired as WorkerPassObserver.Expired {
      if transition != nil { expired.transition = report }
      throw expired
    }
  }

  /// Whether a result may be sent from memory that another process can change meanwhile. Only the
  /// sender of the frame sees it, so that process damages its own results.
  private func maySendForeignResult(of plan: Plan, _ frame: IncomingFrame) -> Bool {
    guard plan.hasForeignResult,
      let packed = try? FrameLayout(packed: plan.output.format, size: plan.output.size),
      PixelBuffer.isTransportable(packed.byteCount),
      let aligned = try? FrameLayout(aligned: plan.output.format, size: plan.output.size)
    else { return false }
    return packed == aligned && !plan.protects && !frame.activePipeline.isOverride
      && frame.composition == nil && self.resolver.ring(for: frame) == nil
      && !self.resolver.sharesResults
  }

  /// Returns the pixels that all steps of a frame read.
  ///
  /// A frame of which a part is hidden is copied out of shared memory, where the client could
  /// change it between the search for the part and its cover. Faces are hidden in the frame on
  /// black: its alpha, which is not searched, could show one.
  private func input(
    _ decoded: Frame, of frame: IncomingFrame, protects: Bool, hidesFaces: Bool
  ) -> Frame {
    let pool = self.processing.pool
    let stable = protects && frame.isInSharedMemory ? decoded.copy(in: pool) : decoded
    return hidesFaces ? stable.onBlack(in: pool) : stable
  }

  /// Returns the values of a frame that stages can show.
  private func details(of frame: IncomingFrame) -> FrameDetails {
    FrameDetails(
      captureNanoseconds: frame.message.captureTimeNs, sequence: frame.message.sequence,
      label: self.label, participant: self.participant, tags: frame.message.tags)
  }

  /// Returns the drawings of a plan's scene stages on a frame, including the earlier plan's stages
  /// in a transition.
  private func scene(
    of input: Frame, _ frame: IncomingFrame, at time: FrameTime, for plan: Plan,
    from earlier: Plan?, _ details: FrameDetails, isReduced: Bool,
    _ observer: some PassObserver
  ) async throws -> SceneDrawings {
    guard !plan.sceneStages.isEmpty || earlier?.sceneStages.isEmpty == false else {
      return (nil, nil)
    }
    do {
      let (scene, reports) = try await self.scene.step(
        input, at: time, for: plan, from: earlier, details: details, isReduced: isReduced,
        observer: observer, jobs: frame.span.passObserver)
      for report in reports {
        self.resolver.send(report.values, stage: report.stage, filter: report.filter, of: frame)
      }
      return scene
    } catch let failure as StreamScene.Failure {
      throw WorkerPassObserver.Failure(filters: [failure.filter], cause: failure.cause)
    }
  }
}

/// Observes the passes of a frame or a still image: stops between two passes once the deadline has
/// passed, opens a span per pass, names the pass that fails, and records the slowest.
struct WorkerPassObserver: PassObserver {
  /// The frame's deadline passed between two passes.
  struct Expired: Error {
    /// The stage of the server that had the frame.
    var stage: DropStage
    /// The work of the frame's transition, which was done before, if any.
    var transition: TransitionWork.Report?
  }

  /// A pass failed.
  struct Failure: Error {
    var filters: [String]
    var cause: any Error
  }

  /// The pass that took longest.
  final class Slowest: Sendable {
    private let state = Mutex<(name: String, elapsed: Duration)>(("", .zero))

    /// The name of the pass, or empty before the first.
    var name: String { self.state.withLock { $0.name } }

    fileprivate func record(_ name: String, _ elapsed: Duration) {
      self.state.withLock { state in
        if elapsed > state.elapsed { state = (name, elapsed) }
      }
    }
  }

  let tracing: FramePassObserver
  let clock: SessionClock
  /// The frame's deadline; `nil` disables the check.
  let deadline: Duration?
  let slowest = Slowest()

  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    let start = self.clock.now()
    if let deadline, start > deadline { throw Expired(stage: .pipeline) }
    do {
      let result = try await self.tracing.pass(description, body)
      self.slowest.record(description.name, self.clock.now() - start)
      return result
    } catch let error as CancellationError where Task.isCancelled {
      throw error
    } catch is PassDeadlineError {
      throw Expired(stage: .pipeline)
    } catch {
      throw Failure(filters: description.filters, cause: error)
    }
  }
}
