import GRPCCore
package import SidelightKernels
package import SidelightWire
import SwiftProtobuf

/// The active pipeline of a session: the participant's own pipeline, its pause, and an operator's
/// override. A pure state machine; callers pass the time in.
///
/// States: running or paused, with or without an override. An override lasts from
/// ``override(with:reason:until:)`` to ``endOverride()`` or its end time. The participant can
/// change its own pipeline during an override; it is active again afterwards.
package struct PipelineState: Sendable {
  /// Whether frames are filtered.
  package enum Pause: Sendable, Hashable {
    case running
    /// Frames are dropped as PAUSED.
    case dropping
    /// Frames come back unchanged.
    case passing
  }

  /// A pipeline forced by an operator.
  package struct Override: Sendable {
    package var pipeline: Pipeline
    package var resolved: ResolvedPipeline
    package var reason: String
    /// The end time, on the session's clock.
    package var end: Duration

    /// Returns whether an operator's decision has led to this override.
    func isSame(as pipeline: Pipeline, reason: String, until end: Duration) -> Bool {
      self.end == end && self.reason == reason && self.pipeline == pipeline
    }

    /// Returns whether one decision has led to both overrides.
    func isSame(as other: Override?) -> Bool {
      other.map { self.isSame(as: $0.pipeline, reason: $0.reason, until: $0.end) } ?? false
    }
  }

  /// The participant's own pipeline.
  package private(set) var pipeline: Pipeline
  private var resolved: ResolvedPipeline
  /// The request that last changed it.
  private var requestID: UInt64
  package private(set) var pause = Pause.running
  package private(set) var override: Override?
  /// The active revision.
  package private(set) var revision: UInt64
  /// The transition to the participant's pipeline, if any.
  private var transition: TransitionState?
  /// The last transition that was cut, and its first frame that shows only the later pipeline.
  private var cut: (revision: UInt64, sequence: UInt64)?
  private let catalogue: FilterCatalogue
  private let overrideCatalogue: FilterCatalogue

  /// - Parameters:
  ///   - pipeline: The first pipeline.
  ///   - catalogue: The filters and assets of the participant's pipelines.
  ///   - overrideCatalogue: The filters and assets of operators' pipelines, which cannot use the
  ///     participant's assets. `nil` uses `catalogue`.
  /// - Throws: ``PipelineError`` if the pipeline is invalid.
  package init(
    pipeline: Pipeline, revision: UInt64 = 1, catalogue: FilterCatalogue,
    overrideCatalogue: FilterCatalogue? = nil
  ) throws(PipelineError) {
    self.resolved = try catalogue.resolve(pipeline)
    self.pipeline = pipeline
    self.requestID = 0
    self.revision = revision
    self.catalogue = catalogue
    self.overrideCatalogue = overrideCatalogue ?? catalogue
  }

  /// The active pipeline and its revision.
  package var activePipeline: ActivePipeline {
    ActivePipeline(
      pipeline: self.override?.resolved ?? self.resolved,
      revision: Revision(
        number: self.revision, requestID: self.override == nil ? self.requestID : 0),
      isOverride: self.override != nil)
  }

  /// The stages of the participant's pipeline and of an override, including nested ones: the cost
  /// of restating the state.
  package var stageCount: Int {
    self.pipeline.stageCount + (self.override?.pipeline.stageCount ?? 0)
  }

  /// The active pipeline before resolution.
  package var effectivePipeline: Pipeline { self.override?.pipeline ?? self.pipeline }

  // MARK: The participant

  /// Changes the participant's pipeline.
  ///
  /// - Parameters:
  ///   - revision: The revision that must be active; `nil` accepts any.
  ///   - requestID: The request's number, which ``Revision`` repeats.
  ///   - transition: The transition to the changed pipeline, or `nil` for a cut. It replaces a
  ///     running transition: it begins at that transition's target, or if both are glides at the
  ///     present parameters. During an override transitions are not started. A protecting pipeline
  ///     that an earlier transition holds stays at least until that transition would have ended.
  ///   - isSelection: Whether the change names the whole pipeline. Without a transition it then
  ///     ends a hold too.
  ///   - violation: Returns the violation of an error that the catalogue found.
  ///   - change: Changes the pipeline.
  /// - Throws: ``FieldViolation`` with ABORTED if another revision is active; the error of
  ///   `change`; or the catalogue's error. The pipeline then stays as it was.
  package mutating func change(
    ifRevision revision: UInt64?, requestID: UInt64, transition: RequestedTransition? = nil,
    isSelection: Bool = true,
    violation: (PipelineError) -> FieldViolation = { FieldViolation($0).within("pipeline") },
    _ change: (inout Pipeline) throws(FieldViolation) -> Void
  ) throws(FieldViolation) {
    if let revision, revision != self.revision {
      throw FieldViolation(
        code: .aborted, field: "if_revision",
        reason: "is \(revision), in force is \(self.revision)",
        info: .init(
          reason: "REVISION_MISMATCH", value: "\(revision)", limit: "\(self.revision)"))
    }
    var pipeline = self.pipeline
    try change(&pipeline)
    try FieldViolation.within("pipeline") { () throws(FieldViolation) in
      try pipeline.checkByteCount()
    }
    let resolved: ResolvedPipeline
    do throws(PipelineError) {
      resolved = try self.catalogue.resolve(pipeline)
    } catch {
      throw violation(error)
    }
    // During an override the frames do not change, but every change gets a revision.
    self.revision += 1
    self.transition = self.transition(
      to: resolved, transition, isSelection: isSelection,
      revision: Revision(number: self.revision, requestID: requestID))
    self.resolved = resolved
    self.pipeline = pipeline
    self.requestID = requestID
  }

  /// Returns the transition to a changed pipeline, or `nil` for a cut.
  private func transition(
    to later: ResolvedPipeline, _ requested: RequestedTransition?, isSelection: Bool,
    revision: Revision
  ) -> TransitionState? {
    guard self.override == nil else { return nil }
    let next = requested.map {
      TransitionState(
        from: self.presentPipeline(for: requested), to: later, $0, revision: revision)
    }
    guard var hold = self.transition, hold.kind == .hold, !later.protects else { return next }
    // The protection must not end before the time that was requested for it.
    if let next, next.duration >= hold.duration { return next }
    if next == nil, isSelection { return nil }
    hold.lead(to: revision)
    return hold
  }

  private func presentPipeline(for requested: RequestedTransition?) -> ResolvedPipeline {
    if let transition, transition.kind == .hold { return transition.earlier }
    guard case .glide? = requested, let transition, transition.kind == .glide else {
      return self.resolved
    }
    return self.catalogue.interpolate(
      from: transition.earlier, to: self.resolved, at: transition.progress) ?? self.resolved
  }

  // MARK: Transitions

  /// Returns the active pipeline for a frame that arrives, with its position in a transition.
  ///
  /// - Parameter captureTime: The frame's capture time, in nanoseconds, or 0 if it is not known.
  /// - Returns: The pipeline, and the end of a transition that is over with this frame.
  package mutating func activePipeline(
    captureTime: Int64, arrival: Duration
  ) -> (ActivePipeline, ended: (Revision, TransitionEnd)?) {
    var active = self.activePipeline
    guard var transition = self.transition else { return (active, nil) }
    switch transition.advance(captureTime: captureTime, arrival: arrival) {
    case .ended(let end):
      self.transition = nil
      return (active, (transition.revision, end))
    case .at(let progress):
      self.transition = transition
      active.transition = TransitionMoment(
        earlier: transition.earlier, kind: transition.kind, progress: progress,
        between: transition.kind == .glide
          ? self.catalogue.interpolate(
            from: transition.earlier, to: self.resolved, at: progress) : nil)
      return (active, nil)
    }
  }

  /// Ends the transition to a revision with a cut.
  ///
  /// - Parameter sequence: The first frame that shows only the later pipeline.
  /// - Returns: Whether it was not over.
  package mutating func cutTransition(to revision: Revision, at sequence: UInt64) -> Bool {
    if let cut, cut.revision == revision.number {
      self.cut?.sequence = min(cut.sequence, sequence)
    } else {
      self.cut = (revision.number, sequence)
    }
    guard self.transition?.revision == revision else { return false }
    self.transition = nil
    return true
  }

  /// Returns whether the transition to a revision was cut at or before a frame.
  package func hasCutTransition(to revision: Revision, at sequence: UInt64) -> Bool {
    guard let cut, cut.revision == revision.number else { return false }
    return sequence >= cut.sequence
  }

  /// Pauses the session or ends its pause.
  ///
  /// - Returns: Whether the state changed.
  package mutating func setPause(_ pause: Pause) -> Bool {
    defer { self.pause = pause }
    return self.pause != pause
  }

  // MARK: Operators

  /// Forces a pipeline.
  ///
  /// - Throws: ``PipelineError`` if the pipeline is invalid. The state then stays as it was.
  package mutating func override(
    with pipeline: Pipeline, reason: String, until end: Duration
  ) throws(PipelineError) {
    self.override = Override(
      pipeline: pipeline, resolved: try self.overrideCatalogue.resolve(pipeline), reason: reason,
      end: end)
    self.transition = nil
    self.revision += 1
  }

  /// Ends the override.
  ///
  /// - Returns: Whether an override was active.
  package mutating func endOverride() -> Bool {
    guard self.override != nil else { return false }
    self.override = nil
    self.revision += 1
    return true
  }

  /// Ends an override that has expired.
  ///
  /// - Parameter next: Returns the decision that applies afterwards. If the pipeline that it forces
  ///   is no longer valid, the active one stays: the session must not run without an override.
  /// - Returns: Whether an override has ended.
  package mutating func expire(
    at now: Duration, next: () -> OverrideStore.Decision? = { nil }
  ) -> Bool {
    guard let override, now >= override.end else { return false }
    guard case .forced(let pipeline, let reason, let end)? = next(), now < end else {
      return self.endOverride()
    }
    do throws(PipelineError) {
      try self.override(with: pipeline, reason: reason, until: end)
    } catch {
      self.override?.end = end
    }
    return true
  }

  // MARK: Resume tokens

  /// Returns the state for a resume token.
  ///
  /// - Parameters:
  ///   - now: The time on the session's clock.
  ///   - wallNow: The same moment in nanoseconds since 1970.
  ///   - lifetime: The time for which the token is valid.
  package func resumeState(
    of lineage: SessionLineage, at now: Duration, wallNow: UInt64, lifetime: Duration
  ) -> Sidelight_V1_ResumeState {
    func wall(_ time: Duration) -> Int64 {
      Int64(clamping: wallNow) &+ (time - now).nanoseconds
    }
    return .with {
      $0.expiresNs = wall(now + lifetime)
      $0.pipeline = Sidelight_V1_Pipeline(self.pipeline)
      $0.revision = self.revision
      $0.lineage = lineage.bytes
      $0.pause =
        switch self.pause {
        case .running: .running
        case .dropping: .dropping
        case .passing: .passing
        }
      if let override = self.override {
        $0.override = Sidelight_V1_Pipeline(override.pipeline)
        $0.overrideExpiresNs = wall(override.end)
        $0.overrideReason = override.reason
      }
    }
  }

  /// Restores the state of a resume token. Ignores an override that has expired.
  ///
  /// - Throws: ``FieldViolation`` if a pipeline is invalid on this server.
  package init(
    resuming state: Sidelight_V1_ResumeState, at now: Duration, wallNow: UInt64,
    catalogue: FilterCatalogue, overrideCatalogue: FilterCatalogue? = nil
  ) throws(FieldViolation) {
    do {
      try self.init(
        pipeline: try Pipeline(state.pipeline), revision: state.revision, catalogue: catalogue,
        overrideCatalogue: overrideCatalogue)
      let left = state.overrideExpiresNs - Int64(clamping: wallNow)
      // The token has the override's revision, and the override has expired.
      if state.hasOverride, left <= 0 { self.revision += 1 }
      if state.hasOverride, left > 0 {
        try self.override(
          with: try Pipeline(state.override), reason: state.overrideReason,
          until: now + .nanoseconds(left))
      }
    } catch let error as PipelineError {
      throw FieldViolation(error).within("open.resume_token.pipeline")
    } catch let error as FieldViolation {
      throw error.within("open.resume_token.pipeline")
    } catch {
      throw FieldViolation(code: .internalError, field: "open.resume_token", reason: "\(error)")
    }
    switch state.pause {
    case .dropping: _ = self.setPause(.dropping)
    case .passing: _ = self.setPause(.passing)
    case .running, .unspecified, .UNRECOGNIZED: break
    }
  }
}
