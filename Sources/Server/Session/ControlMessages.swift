import SidelightKernels
import SidelightWire

/// A change to the session's pipeline requested by a client: `select`, `update` or `activate`.
struct PipelineChange {
  /// The message's field, for errors.
  let field: String
  let requestID: UInt64
  /// The revision that must be active; `nil` accepts any.
  let expectedRevision: UInt64?
  /// The pipeline that the message contains, unless it changes the active one.
  private(set) var requested: RequestedPipeline?
  /// The transition to the changed pipeline, or `nil` for a cut.
  private(set) var transition: RequestedTransition?
  let apply: (inout Pipeline) throws(FieldViolation) -> Void

  /// Replaces the pipeline.
  init(_ select: Sidelight_V1_Select) {
    self.field = "select"
    self.requestID = select.requestID
    self.expectedRevision = select.hasIfRevision ? select.ifRevision : nil
    do throws(FieldViolation) {
      let requested = try RequestedPipeline(select)
      self.requested = requested
      self.transition = try .requested(select.hasTransition ? select.transition : nil)
      self.apply = { pipeline in pipeline = requested.pipeline }
    } catch {
      // Thrown after the check of the revision.
      self.apply = { _ throws(FieldViolation) in throw error }
    }
  }

  /// Changes parameters of stages.
  init(_ update: Sidelight_V1_Update) {
    self.field = "update"
    self.requestID = update.requestID
    self.expectedRevision = update.hasIfRevision ? update.ifRevision : nil
    let glide = Result { () throws(FieldViolation) -> RequestedTransition? in
      try .requested(update.hasGlide ? update.glide : nil)
    }
    self.transition = (try? glide.get()) ?? nil
    self.apply = { pipeline throws(FieldViolation) in
      _ = try glide.get()
      try ContractLimits.check(
        count: update.stages.count, atMost: Pipeline.maxStages, field: "stages")
      for (index, stage) in update.stages.enumerated() {
        try FieldViolation.within("stages[\(index)]") { () throws(FieldViolation) in
          try pipeline.apply(stage)
        }
      }
    }
  }

  /// Turns stages on and off.
  init(_ activate: Sidelight_V1_Activate) {
    self.field = "activate"
    self.requestID = activate.requestID
    self.expectedRevision = activate.hasIfRevision ? activate.ifRevision : nil
    let transition = Result { () throws(FieldViolation) -> RequestedTransition? in
      try .requested(activate.hasTransition ? activate.transition : nil)
    }
    self.transition = (try? transition.get()) ?? nil
    self.apply = { pipeline throws(FieldViolation) in
      _ = try transition.get()
      try ContractLimits.check(
        count: activate.stages.count, atMost: Pipeline.maxStages, field: "stages")
      for (name, isActive) in activate.stages {
        do throws(PipelineError) {
          try pipeline.setActive(isActive, stage: name)
        } catch {
          throw FieldViolation(
            field: "stages[\"\(name.clipped(toBytes: 64))\"]", reason: "\(error)",
            info: FieldViolation(error).info)
        }
      }
    }
  }
}

extension PipelineChange {
  /// Returns the violation of an error in the changed pipeline, with a field relative to the
  /// message.
  func violation(of error: PipelineError) -> FieldViolation {
    self.requested?.violation(of: error) ?? FieldViolation(error).within("pipeline")
  }
}

extension RequestedTransition? {
  /// Reads the transition of a message, if any.
  fileprivate static func requested(
    _ wire: Sidelight_V1_Transition?
  ) throws(FieldViolation) -> RequestedTransition? {
    guard let wire else { return nil }
    return .mix(
      try FieldViolation.within("transition") { () throws(FieldViolation) in
        try PipelineTransition(wire)
      })
  }

  /// Reads the glide of a message, if any.
  fileprivate static func requested(
    _ wire: Sidelight_V1_Glide?
  ) throws(FieldViolation) -> RequestedTransition? {
    guard let wire else { return nil }
    return .glide(
      try FieldViolation.within("glide") { () throws(FieldViolation) in try ParameterGlide(wire) })
  }
}

extension Pipeline {
  /// Changes the parameters that a message names.
  fileprivate mutating func apply(
    _ update: Sidelight_V1_Update.StageParameters
  ) throws(FieldViolation) {
    try ContractLimits.check(
      count: update.parameters.count, atMost: Self.maxParameters, field: "parameters")
    var parameters: [String: ParameterValue] = [:]
    for (name, value) in update.parameters {
      parameters[name] = try FieldViolation.within(
        "parameters[\"\(name.clipped(toBytes: 64))\"]"
      ) { () throws(FieldViolation) in try ParameterValue(value) }
    }
    do throws(PipelineError) {
      try self.setParameters(parameters, stage: update.stage)
    } catch {
      throw FieldViolation(error)
    }
  }
}

/// Limits the cost of a session's control messages: all messages except frames.
///
/// The server never refuses a control message for its rate. It delays a client that exceeds the
/// rate: it reads the next control message, and all later messages, once the budget allows.
/// Acknowledgements that answer a frame are free, since they are at most as many as the frames.
///
/// A message costs 1 unit, and a message that changes or restates the pipeline 1 more per stage. A
/// burst may spend at once a second's units of ``ContractLimits``.
package struct ControlRate: Sendable {
  /// The acknowledgements of earlier frames that are free.
  private static let maxFreeAcknowledgements = 64

  private var units: TokenBucket
  private var bytes: TokenBucket
  private var freeAcknowledgements = ControlRate.maxFreeAcknowledgements

  /// - Parameter now: The time; both budgets are full then.
  package init(at now: Duration) {
    self.units = TokenBucket(
      perSecond: Double(ContractLimits.controlUnitsPerSecond), at: now)
    self.bytes = TokenBucket(
      perSecond: Double(ContractLimits.controlBytesPerSecond), at: now)
  }

  /// Returns the time until the next control message may be handled, or zero if it may now.
  package mutating func delay(at now: Duration) -> Duration {
    max(self.units.delay(for: 1, at: now), self.bytes.delay(for: 1, at: now))
  }

  /// Accounts for a handled control message.
  ///
  /// - Parameters:
  ///   - units: The cost, at least 1.
  ///   - byteCount: The length on the wire.
  package mutating func take(units: Int, byteCount: Int) {
    self.units.take(Double(units))
    self.bytes.take(Double(byteCount))
  }

  /// Accounts for a frame, whose outcomes may be acknowledged.
  ///
  /// - Parameter outcomes: The outcomes of a frame, more than 1 with named outputs.
  package mutating func countFrame(outcomes: Int = 1) {
    self.freeAcknowledgements = min(
      self.freeAcknowledgements + outcomes, Self.maxFreeAcknowledgements)
  }

  /// Returns whether an acknowledgement is free, and accounts for it.
  package mutating func takeFreeAcknowledgement() -> Bool {
    guard self.freeAcknowledgements > 0 else { return false }
    self.freeAcknowledgements -= 1
    return true
  }
}
