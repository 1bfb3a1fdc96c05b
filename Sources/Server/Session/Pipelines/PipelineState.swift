import GRPCCore
package import SidelightKernels
package import SidelightWire
import SwiftProtobuf

/// Where a session's pipeline is decided: what the participant selected, whether it is paused, and
/// what an operator forced for a time. A pure state machine; time is handed in.
///
/// Life: running <-> paused, each under an override or not. An override begins with
/// ``override(with:reason:until:)`` and ends with ``endOverride()`` or its time; underneath it the
/// participant's own selection changes as he wishes, and is in force again afterwards.
package struct PipelineState: Sendable {
  /// Whether frames are filtered.
  package enum Pause: Sendable, Hashable {
    case running
    /// Frames end as PAUSED.
    case dropping
    /// Frames come back as they came.
    case passing
  }

  /// A pipeline that an operator forced.
  package struct Override: Sendable {
    package var pipeline: Pipeline
    package var resolved: ResolvedPipeline
    package var reason: String
    /// When it ends, on the session's clock.
    package var end: Duration
  }

  /// The participant's own pipeline.
  package private(set) var pipeline: Pipeline
  private var resolved: ResolvedPipeline
  /// That of the last change to it.
  private var requestID: UInt64
  package private(set) var pause = Pause.running
  package private(set) var override: Override?
  /// The revision in force.
  package private(set) var revision: UInt64
  private let catalogue: FilterCatalogue
  private let overrideCatalogue: FilterCatalogue

  /// - Parameters:
  ///   - pipeline: The first selection.
  ///   - catalogue: Says what filters there are.
  ///   - overrideCatalogue: The same for operators, to whom the participant's assets are nothing: what
  ///     they force is theirs. By default as `catalogue`.
  /// - Throws: ``PipelineError`` if the pipeline cannot be.
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

  /// What frames are made with that arrive now.
  package func selection() -> ActivePipeline {
    ActivePipeline(
      pipeline: self.override?.resolved ?? self.resolved,
      revision: Revision(
        number: self.revision, requestID: self.override == nil ? self.requestID : 0),
      isOverride: self.override != nil)
  }

  /// The stages of the participant's pipeline and of an override, nested ones included: what restating
  /// the selection costs.
  package var stageCount: Int {
    self.pipeline.stageCount + (self.override?.pipeline.stageCount ?? 0)
  }

  /// The pipeline in force, as it was written.
  package var pipelineInForce: Pipeline { self.override?.pipeline ?? self.pipeline }

  /// The participant changes his pipeline.
  ///
  /// - Parameters:
  ///   - revision: The revision that must be in force; `nil`: any.
  ///   - requestID: Comes back when the change is in force.
  ///   - change: Makes the new pipeline of the old.
  /// - Throws: ``FieldFault`` with ABORTED if another revision is in force; what `change` throws; or
  ///   what the catalogue says of the new pipeline. The old one then stays.
  package mutating func change(
    ifRevision revision: UInt64?, requestID: UInt64,
    _ change: (inout Pipeline) throws(FieldFault) -> Void
  ) throws(FieldFault) {
    if let revision, revision != self.revision {
      throw FieldFault(
        code: .aborted, field: "if_revision",
        reason: "is \(revision), in force is \(self.revision)")
    }
    var pipeline = self.pipeline
    try change(&pipeline)
    do throws(FieldFault) { try pipeline.checkByteCount() } catch { throw error.within("pipeline") }
    do throws(PipelineError) {
      self.resolved = try self.catalogue.resolve(pipeline)
    } catch {
      throw FieldFault(error).within("pipeline")
    }
    self.pipeline = pipeline
    self.requestID = requestID
    // Under an override nothing changes yet for the frames, but each change has its number.
    self.revision += 1
  }

  /// What is in force has changed for a reason from outside.
  mutating func countChange() {
    self.revision += 1
  }

  /// The participant pauses, or goes on.
  ///
  /// - Returns: Whether that changed anything.
  package mutating func setPause(_ pause: Pause) -> Bool {
    defer { self.pause = pause }
    return self.pause != pause
  }

  /// An operator forces a pipeline.
  ///
  /// - Throws: What the catalogue says of the pipeline. What was in force then stays.
  package mutating func override(
    with pipeline: Pipeline, reason: String, until end: Duration
  ) throws(PipelineError) {
    self.override = Override(
      pipeline: pipeline, resolved: try self.overrideCatalogue.resolve(pipeline), reason: reason,
      end: end)
    self.revision += 1
  }

  /// The override is over.
  ///
  /// - Returns: Whether there was one.
  package mutating func endOverride() -> Bool {
    guard self.override != nil else { return false }
    self.override = nil
    self.revision += 1
    return true
  }

  /// Time passes.
  ///
  /// - Returns: Whether that ended an override.
  package mutating func expire(at now: Duration) -> Bool {
    guard let override, now >= override.end else { return false }
    return self.endOverride()
  }
}

/// A pipeline in force, and the number of its revision.
///
/// Each frame keeps the selection that was in force when it arrived, so no output mixes two.
package struct ActivePipeline: Sendable {
  /// What is done to the frame.
  package var pipeline: ResolvedPipeline
  /// Under which number.
  package var revision: Revision
  /// Whether an operator forced it. Then a frame that cannot be filtered is not shown as it came.
  package var isOverride: Bool

  package init(pipeline: ResolvedPipeline, revision: Revision, isOverride: Bool = false) {
    self.pipeline = pipeline
    self.revision = revision
    self.isOverride = isOverride
  }
}

extension PipelineState {
  /// What a token holds.
  ///
  /// - Parameters:
  ///   - lineage: The session's.
  ///   - now: The time on the session's clock.
  ///   - wallNow: The same moment, in nanoseconds since 1970.
  ///   - lifetime: How long the token is good.
  package func resumeState(
    of lineage: SessionLineage, at now: Duration, wallNow: UInt64, lifetime: Duration
  ) -> Sidelight_V1_ResumeState {
    func wall(_ time: Duration) -> Int64 {
      Int64(clamping: wallNow) &+ (time - now).wireNanoseconds
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

  /// Restores what a token holds. An override whose time is over is not restored.
  ///
  /// - Throws: ``FieldFault`` if this server's catalogue cannot make the pipeline.
  package init(
    resuming state: Sidelight_V1_ResumeState, at now: Duration, wallNow: UInt64,
    catalogue: FilterCatalogue, overrideCatalogue: FilterCatalogue? = nil
  ) throws(FieldFault) {
    do {
      try self.init(
        pipeline: try Pipeline(state.pipeline), revision: state.revision, catalogue: catalogue,
        overrideCatalogue: overrideCatalogue)
      let left = state.overrideExpiresNs - Int64(clamping: wallNow)
      // The number was the override's, which is over.
      if state.hasOverride, left <= 0 { self.countChange() }
      if state.hasOverride, left > 0 {
        try self.override(
          with: try Pipeline(state.override), reason: state.overrideReason,
          until: now + .nanoseconds(left))
      }
    } catch let error as PipelineError {
      throw FieldFault(error).within("open.resume_token.pipeline")
    } catch let error as FieldFault {
      throw error.within("open.resume_token.pipeline")
    } catch {
      throw FieldFault(code: .internalError, field: "open.resume_token", reason: "\(error)")
    }
    switch state.pause {
    case .dropping: _ = self.setPause(.dropping)
    case .passing: _ = self.setPause(.passing)
    case .running, .unspecified, .UNRECOGNIZED: break
    }
  }
}

extension Duration {
  /// Whole nanoseconds, as the wire counts moments; at most some 292 years either way.
  fileprivate var wireNanoseconds: Int64 {
    let (seconds, attoseconds) = self.components
    let (nanoseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isOverflow else { return seconds < 0 ? .min : .max }
    return nanoseconds &+ attoseconds / 1_000_000_000
  }
}
