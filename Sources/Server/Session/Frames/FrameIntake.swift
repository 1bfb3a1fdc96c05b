import GRPCCore
import Logging
import ServiceLifecycle
import SidelightCodecs
import SidelightKernels
import SidelightTransport
import SidelightWire

/// Takes valid pictures to the mailbox of a session: chooses their pipeline, offers them to
/// analyses, and drops or sends back those that need no turn.
struct FrameIntake: ~Copyable {
  private let session: Session
  /// Decides which frames go on to the mailbox.
  var admission: FrameAdmission
  private var compiledPipelines: CompiledPipelineCache
  private var analyses = AnalysisSchedule()
  private var reception = ReceptionBudget()
  /// The last revision whose stages without effect were logged.
  private var loggedRevision: UInt64?

  init(session: Session) {
    self.session = session
    self.admission = FrameAdmission(session: session)
    self.compiledPipelines = CompiledPipelineCache(
      engine: session.engine, session: session.handle.number, output: session.output,
      allowsReduced: session.options.open.allowDegraded)
  }

  /// Whether the reader waits for room rather than displace another frame.
  var isReceptionSpent: Bool { self.reception.isSpent }

  /// Offers an admitted picture to the mailbox, sends it back, or drops it.
  ///
  /// - Parameters:
  ///   - refusal: The reason to drop it, once it is decoded.
  ///   - pause: Whether frames are filtered.
  ///   - composition: The results that a composed picture shows.
  /// - Throws: `CancellationError`.
  mutating func accept(
    _ message: Sidelight_V1_Frame, _ picture: IncomingPicture, _ active: ActivePipeline,
    _ reservation: Session.FrameOutcomeQueue.Reservation, _ span: FrameSpan,
    refusal: DropReason? = nil, pause: PipelineState.Pause, received: Duration,
    composition: ComposedResults? = nil
  ) async throws {
    var active = active
    let isVideo = if case .video = picture { true } else { false }
    // A refused frame takes no turn of the rate.
    let isBeyondRate =
      isVideo && refusal == nil && self.admission.isBeyondFrameRate(message, at: received)
    let deadline = self.admission.deadline(of: message, received: received)
    let selected = try await self.compiledPipelines.framePipeline(
      for: active, picture.form, budget: deadline.map { $0 - received },
      isReduced: self.session.quality.isReduced)
    if let cut = selected.cut {
      self.session.handle.cutTransition(to: active.revision, cut, at: message.sequence)
    }
    active = selected.active
    let compiled = selected.compiled
    self.logIdleStages(of: compiled.plan, active.revision)
    // An override and a pipeline that protects apply to frames that a pause would let pass.
    let passesThrough =
      self.session.options.open.analysisOnly
      || (pause == .passing && !active.isOverride && !active.pipeline.protects)
    var frame = IncomingFrame(
      arrival: reservation.arrival, message: message, picture: picture, activePipeline: active,
      compiledPipeline: passesThrough ? nil : compiled,
      transition: passesThrough ? nil : selected.transition, received: received,
      deadline: deadline, span: span, composition: composition)
    // The worker runs the analyses that are scene stages of the plan.
    let analyses = compiled.plan.analyses.filter {
      !$0.isInScene || self.session.options.open.analysisOnly
    }
    let due = self.analyses.due(among: analyses, isReduced: self.session.quality.isReduced)
    if !due.isEmpty {
      try await self.analyze(&frame, due, stages: analyses.map(\.stage))
    }
    let refusal =
      refusal
      ?? (isBeyondRate ? .rateLimited : self.admission.hasTime(for: frame) ? nil : .lateOnArrival)
    if isVideo || self.session.decodesFrames.value {
      return await self.decode(frame, refusal)
    }
    if let refusal {
      return self.session.resolver.drop(
        reservation, span, Drop(reason: refusal, stage: .arrival))
    }
    guard !self.canPassThroughNow(frame) else {
      return self.session.resolver.passThrough(frame, started: received)
    }
    let displaced = await self.session.mailbox.offer(frame)
    if displaced.isEmpty {
      self.reception.accept(
        byteCount: frame.receivedByteCount, work: frame.compiledPipeline?.cost.work)
    }
    for displaced in displaced {
      self.reception.displace(byteCount: displaced.element.receivedByteCount)
      self.session.resolver.drop(
        displaced.element, Drop(reason: displaced.reason, stage: .mailbox))
    }
  }

  /// Offers a frame of a session with encoded video to the decoding worker. Later frames depend on
  /// a refused one too, unless it is disposable.
  private func decode(_ frame: IncomingFrame, _ refusal: DropReason?) async {
    let drop = refusal.map { Drop(reason: $0, stage: .arrival) }
    if let drop {
      guard case .video(let picture) = frame.picture, !picture.header.isDisposable else {
        self.session.resolver.drop(frame, drop)
        return await self.leaveOut(frame.message.sequence, nil)
      }
    }
    self.session.decodesFrames.value = true
    for displaced in await self.session.decodingJobs.offer(.frame(frame, drop)) {
      self.session.resolver.drop(frame, Drop(reason: displaced.reason, stage: .mailbox))
    }
  }

  /// Tells the decoding worker of a frame that it will not get.
  ///
  /// - Parameter reason: Why later frames cannot be decoded; `nil` if they can.
  func leaveOut(_ sequence: UInt64, _ reason: KeyFrameReason?) async {
    self.session.decodesFrames.value = true
    _ = await self.session.decodingJobs.offer(.dropped(sequence: sequence, reason))
  }

  /// Logs the stages of a new revision that have no effect.
  private mutating func logIdleStages(of plan: Plan, _ revision: Revision) {
    guard revision.number != self.loggedRevision else { return }
    self.loggedRevision = revision.number
    guard !plan.idleStages.isEmpty else { return }
    let stages = plan.idleStages.map { "\($0.path) \($0.filter)" }.joined(separator: ", ")
    self.session.handle.logger.notice(
      "stages have no effect",
      metadata: [
        "revision": "\(revision.number)", "stages": "\(stages.clipped(toBytes: 512))",
      ])
  }

  /// Offers a frame to its analyses.
  ///
  /// - Parameters:
  ///   - analyses: The analyses that are due.
  ///   - stages: The stages of all analyses of the pipeline.
  /// - Throws: `CancellationError`.
  private mutating func analyze(
    _ frame: inout IncomingFrame, _ analyses: [PlannedAnalysis], stages: [String]
  ) async throws {
    // Copying a picture in shared memory delays the frame, so it waits for a time when analyses are
    // idle.
    guard !frame.isInSharedMemory || self.session.analyses.isFree(for: analyses) else {
      return self.analyses.postpone(analyses)
    }
    let picture = try await self.retainablePicture(of: frame)
    // The owner of the source must decode: the worker's frame owns it, the analyses' frame doesn't.
    let analyzed = frame
    switch picture {
    case .file where frame.needsFiltering, .video: frame.samples = SharedSamples.Source()
    case .file, .frame: break
    }
    await self.session.analyses.offer(
      SessionAnalyses.Request(
        frame: analyzed, picture: picture, samples: frame.samples?.samples, analyses: analyses,
        stages: stages))
  }

  /// Returns whether a frame comes back with so little work that another thread would only delay
  /// it. Outcomes stay in the order of arrival.
  private func canPassThroughNow(_ frame: IncomingFrame) -> Bool {
    let options = self.session.options
    guard !frame.needsFiltering, !Task.isShuttingDownGracefully,
      // A composition needs a copy.
      !(frame.isInSharedMemory && self.session.handle.results.isRead),
      // The worker relies on the capacity that it waited for.
      self.session.mailbox.isConsumerWaiting,
      options.dropPolicy == .newestWins
        || (self.session.outcomes.hasPictureCapacity && self.session.outputs.isEmpty)
    else { return false }
    return !self.session.outputs.isEmpty || options.open.allowUnmodified
      || options.open.analysisOnly || frame.message.image.isInSlot
      || frame.picture.bytes.isTransportable
      || frame.picture.bytes.byteCount <= Self.smallPictureBytes
  }

  /// The number of bytes that can be copied while another thread wakes up.
  private static let smallPictureBytes = 64 << 10

  /// Returns a picture that stays valid after the frame's outcome. Copies a picture in shared
  /// memory, whose slot then belongs to the client again.
  ///
  /// - Throws: `CancellationError`.
  private func retainablePicture(of frame: IncomingFrame) async throws -> IncomingPicture {
    guard frame.isInSharedMemory, case .frame(let picture) = frame.picture else {
      return frame.picture
    }
    return try await withTaskExecutorPreference(self.session.engine.processing.compute) {
      try Task.checkCancellation()
      return .frame(picture.copy(in: self.session.engine.processing.pool))
    }
  }
}

/// Finds the pixels of a session's frames, inline or in shared memory, and checks the pictures.
struct FramePictureReader: Sendable {
  private let processing: FrameProcessing
  private let limits: FrameLimits
  private let ring: SessionRing?
  private var video: EncodedPictureReader

  /// - Parameter ring: The session's shared memory, or `nil` if pixels travel inline.
  init(processing: FrameProcessing, limits: FrameLimits, ring: SessionRing?) {
    self.processing = processing
    self.limits = limits
    self.ring = ring
    self.video = EncodedPictureReader(limits: limits)
  }

  /// Why a picture for which ``picture(of:_:)`` returns `nil` cannot be decoded.
  var missing: KeyFrameReason { self.video.missing }

  /// Returns the bytes of a frame's pixels.
  ///
  /// - Parameter pixels: The inline pixels, if any.
  func byteCount(of image: Sidelight_V1_Image, _ pixels: PixelBuffer?) -> Int {
    pixels?.byteCount ?? self.ring?.byteCount(of: image) ?? 0
  }

  /// Takes the input slot that an image names. It belongs to the frame until the outcome is sent.
  ///
  /// - Returns: The slot's pixels, or `nil` if the image doesn't name a slot or the session has no
  ///   ring.
  /// - Throws: ``FieldViolation`` if the client may not use that slot, or that many of its bytes.
  func takeSlot(
    of image: Sidelight_V1_Image, for arrival: UInt64
  ) throws(FieldViolation) -> PixelBuffer? {
    guard case .sharedMemory(let reference)? = image.pixels, let ring = self.ring else {
      return nil
    }
    let pixels = try FieldViolation.within("frame.image") { () throws(FieldViolation) in
      try ring.take(reference, for: arrival)
    }
    guard image.format.isCompressed else { return pixels }
    guard pixels.byteCount <= self.limits.maxBytes else {
      throw FieldViolation(
        field: "frame.image.shared_memory.length",
        reason: "is \(pixels.byteCount), the limit of a file is \(self.limits.maxBytes)")
    }
    return pixels
  }

  /// Returns a slot's pixels. Copies compressed pictures, on a compute thread: the client can write
  /// to the slot at any time, and a parser must see the same bytes whenever it reads them.
  func contents(of slot: PixelBuffer?, _ image: Sidelight_V1_Image) async -> PixelBuffer? {
    guard let slot, image.format.isCompressed else { return slot }
    let pool = self.processing.pool
    return await withTaskExecutorPreference(self.processing.compute) {
      await Self.copy(slot, pool)
    }
  }

  @concurrent
  private static func copy(_ slot: PixelBuffer, _ pool: BufferPool) async -> PixelBuffer {
    slot.copy(in: pool)
  }

  /// Checks a frame's picture.
  ///
  /// - Returns: `nil` for a picture of a stream that depends on one that has not arrived.
  /// - Throws: ``FieldViolation`` that names the field.
  mutating func picture(
    of frame: Sidelight_V1_Frame, _ pixels: PixelBuffer?
  ) throws(FieldViolation) -> IncomingPicture? {
    try FieldViolation.within("frame.image") { () throws(FieldViolation) in
      if let codec = PictureCoding(frame.image.format)?.codec {
        return try self.video.picture(frame.image, codec, over: pixels).map { .video($0) }
      }
      return try IncomingPicture(
        frame.image, over: pixels, limits: self.limits, jpeg: self.processing.codec.jpeg)
    }
  }
}
