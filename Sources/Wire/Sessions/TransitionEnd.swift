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
    switch end {
    case .completed: self = .completed
    case .noTime: self = .noTime
    case .protection: self = .protection
    case .outputDiffers: self = .outputDiffers
    case .stageFailed: self = .stageFailed
    case .memory: self = .memory
    case .captureTime: self = .captureTime
    case .scene: self = .scene
    case .unspecified, .UNRECOGNIZED: return nil
    }
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
