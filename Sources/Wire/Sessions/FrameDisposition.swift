/// The kind of result of a frame that comes back.
public enum FrameDisposition: String, Sendable, Hashable, CaseIterable {
  /// The pipeline filtered it in full.
  case filtered
  /// It is the input: all stages were inactive, the session is paused, or a stage failed.
  case passedThrough
  /// A cheaper variant of the pipeline filtered it, or a blur replaces it because a stage failed.
  case degraded

  /// The name in metrics and traces.
  package var name: String {
    switch self {
    case .filtered: "filtered"
    case .passedThrough: "passed_through"
    case .degraded: "degraded"
    }
  }
}

// MARK: Messages

extension FrameDisposition {
  /// Creates a disposition. Unknown values, which newer servers may use, count as filtered.
  package init(_ disposition: Sidelight_V1_Disposition) {
    switch disposition {
    case .degraded: self = .degraded
    case .passedThrough: self = .passedThrough
    case .filtered, .unspecified, .UNRECOGNIZED: self = .filtered
    }
  }
}

extension Sidelight_V1_Disposition {
  package init(_ disposition: FrameDisposition) {
    self =
      switch disposition {
      case .filtered: .filtered
      case .passedThrough: .passedThrough
      case .degraded: .degraded
      }
  }
}
