package import SidelightKernels
import SwiftProtobuf

/// A gradual change requested by a client.
package enum RequestedTransition: Sendable, Hashable {
  /// The mix of the results of both pipelines.
  case mix(PipelineTransition)
  /// The pipeline with parameters in between.
  case glide(ParameterGlide)
}

extension PipelineTransition {
  /// Reads a transition.
  ///
  /// - Throws: ``FieldViolation`` with a field relative to the message.
  package init(_ wire: Sidelight_V1_Transition) throws(FieldViolation) {
    let duration = try Duration(transition: wire.hasDuration ? wire.duration : nil)
    let curve = try TransitionCurve(wire.curve)
    let softness = wire.hasSoftness ? wire.softness : Style.defaultSoftness
    guard (0 ... 1).contains(softness) else {
      throw FieldViolation(
        field: "softness", reason: "is \(softness), the range is 0 to 1",
        info: .outOfRange(softness, limit: "0.0 ... 1.0"))
    }
    let style: Style
    switch wire.kind {
    case .unspecified, .fade: style = .fade
    case .wipe: style = .wipe(try WipeDirection(wire.direction), softness: softness)
    case .dissolve: style = .dissolve(softness: softness, seed: wire.seed)
    case .UNRECOGNIZED(let value):
      throw .unknownEnumValue(value, field: "kind", valid: "FADE, WIPE, DISSOLVE")
    }
    if case .wipe = style {
    } else if wire.direction != .unspecified {
      throw .unusedField("direction", value: "\(wire.direction)", kinds: "WIPE")
    }
    if case .fade = style, wire.hasSoftness {
      throw .unusedField("softness", value: "\(wire.softness)", kinds: "WIPE and DISSOLVE")
    }
    if case .dissolve = style {
    } else if wire.seed != 0 {
      throw .unusedField("seed", value: "\(wire.seed)", kinds: "DISSOLVE")
    }
    self.init(duration, curve: curve, style: style)
  }
}

extension ParameterGlide {
  /// Reads a glide.
  ///
  /// - Throws: ``FieldViolation`` with a field relative to the message.
  package init(_ wire: Sidelight_V1_Glide) throws(FieldViolation) {
    self.init(
      try Duration(transition: wire.hasDuration ? wire.duration : nil),
      curve: try TransitionCurve(wire.curve))
  }
}

extension Sidelight_V1_Transition {
  package init(_ transition: PipelineTransition) {
    self.init()
    self.duration = Google_Protobuf_Duration(rounding: transition.duration)
    self.curve = Sidelight_V1_TransitionCurve(transition.curve)
    switch transition.style {
    case .fade: self.kind = .fade
    case .wipe(let direction, let softness):
      self.kind = .wipe
      self.direction = Sidelight_V1_WipeDirection(direction)
      self.softness = softness
    case .dissolve(let softness, let seed):
      self.kind = .dissolve
      self.softness = softness
      self.seed = seed
    }
  }
}

extension Sidelight_V1_Glide {
  package init(_ glide: ParameterGlide) {
    self.init()
    self.duration = Google_Protobuf_Duration(rounding: glide.duration)
    self.curve = Sidelight_V1_TransitionCurve(glide.curve)
  }
}

extension Duration {
  /// Reads the duration of a transition.
  fileprivate init(transition wire: Google_Protobuf_Duration?) throws(FieldViolation) {
    let limit = PipelineTransition.maxDuration
    guard let wire else {
      throw FieldViolation(
        field: "duration", reason: "is missing; it must be more than 0 and at most \(limit)",
        info: .init(reason: "OUT_OF_RANGE", limit: "more than 0, at most \(limit)"))
    }
    let duration = Duration(wire)
    guard duration > .zero, duration <= limit else {
      throw FieldViolation(
        field: "duration",
        reason: "is \(duration); it must be more than 0 and at most \(limit)",
        info: .outOfRange(duration, limit: "more than 0, at most \(limit)"))
    }
    self = duration
  }
}

extension TransitionCurve {
  fileprivate init(_ wire: Sidelight_V1_TransitionCurve) throws(FieldViolation) {
    switch wire {
    case .unspecified, .linear: self = .linear
    case .easeIn: self = .easeIn
    case .easeOut: self = .easeOut
    case .easeInOut: self = .easeInOut
    case .UNRECOGNIZED(let value):
      throw .unknownEnumValue(
        value, field: "curve", valid: "LINEAR, EASE_IN, EASE_OUT, EASE_IN_OUT")
    }
  }
}

extension Sidelight_V1_TransitionCurve {
  fileprivate init(_ curve: TransitionCurve) {
    self =
      switch curve {
      case .linear: .linear
      case .easeIn: .easeIn
      case .easeOut: .easeOut
      case .easeInOut: .easeInOut
      }
  }
}

extension PipelineTransition.WipeDirection {
  fileprivate init(_ wire: Sidelight_V1_WipeDirection) throws(FieldViolation) {
    switch wire {
    case .unspecified, .right: self = .right
    case .left: self = .left
    case .down: self = .down
    case .up: self = .up
    case .UNRECOGNIZED(let value):
      throw .unknownEnumValue(value, field: "direction", valid: "RIGHT, LEFT, DOWN, UP")
    }
  }
}

extension Sidelight_V1_WipeDirection {
  fileprivate init(_ direction: PipelineTransition.WipeDirection) {
    self =
      switch direction {
      case .right: .right
      case .left: .left
      case .down: .down
      case .up: .up
      }
  }
}

extension FieldViolation {
  fileprivate static func unknownEnumValue(
    _ value: Int, field: String, valid: String
  ) -> FieldViolation {
    FieldViolation(
      field: field, reason: "is \(value); it must be one of \(valid)",
      info: .init(reason: "UNKNOWN_NAME", value: "\(value)", limit: valid))
  }

  /// Creates the violation of a field unsupported by the transition's kind.
  fileprivate static func unusedField(
    _ field: String, value: String, kinds: String
  ) -> FieldViolation {
    FieldViolation(
      field: field, reason: "is \(value), but only transitions of the kind \(kinds) have it",
      info: .init(value: value, limit: kinds))
  }
}

/// The reason why a transition from one pipeline to another is over.
public enum TransitionEnd: String, Sendable, Hashable, CaseIterable {
  /// Its duration has passed.
  case completed
  /// The work of both pipelines would have made a frame late.
  case noTime
  /// One of the pipelines hides faces or backgrounds, and a mix would show a part of them.
  case protection
  /// The results of the pipelines differ in size or format.
  case outputDiffers
  /// A stage of the earlier pipeline failed.
  case stageFailed
  /// Both pipelines together would hold more memory than one pipeline may.
  case memory
  /// The capture times went back, or did not advance.
  case captureTime
  /// A stage separates people from the background, which two pipelines at a time cannot do.
  case scene
}

// MARK: Messages

extension TransitionEnd {
  /// - Returns: `nil` for a reason that is unknown to this version.
  package init?(_ end: Sidelight_V1_TransitionEnd) {
    guard let known = Self.allCases.first(where: { Sidelight_V1_TransitionEnd($0) == end }) else {
      return nil
    }
    self = known
  }
}

extension Sidelight_V1_TransitionEnd {
  package init(_ end: TransitionEnd) {
    self =
      switch end {
      case .completed: .completed
      case .noTime: .noTime
      case .protection: .protection
      case .outputDiffers: .outputDiffers
      case .stageFailed: .stageFailed
      case .memory: .memory
      case .captureTime: .captureTime
      case .scene: .scene
      }
  }
}

extension Duration {
  /// The duration in whole microseconds, the unit of the contract, or 0 for negative durations, and
  /// the greatest value for longer ones than it can state.
  package var wireMicroseconds: UInt32 {
    let (seconds, attoseconds) = self.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (microseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !isOverflow else { return .max }
    return UInt32(clamping: microseconds &+ attoseconds / 1_000_000_000_000)
  }
}
