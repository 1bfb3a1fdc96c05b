/// What happens to a frame whose stage failed.
public enum FailurePolicy: Sendable, Hashable, CaseIterable {
  /// The frame comes back as it came.
  case passThrough
  /// The frame is not shown.
  case drop
  /// The frame comes back blurred beyond recognition: what must not be seen stays unseen.
  case blur
}

extension FailurePolicy: Comparable {
  /// Whether less of a failed frame is to be seen under the right policy. What is blurred may tell
  /// something, what is dropped tells nothing.
  public static func < (left: Self, right: Self) -> Bool { left.strictness < right.strictness }

  private var strictness: Int {
    switch self {
    case .passThrough: 0
    case .blur: 1
    case .drop: 2
    }
  }
}
