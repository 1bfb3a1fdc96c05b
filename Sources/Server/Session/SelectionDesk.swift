import GRPCCore
package import SidelightKernels
package import SidelightWire

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
