/// A gradual change from one pipeline to another.
public struct PipelineTransition: Sendable, Hashable {
  /// The look of a transition.
  public enum Style: Sendable, Hashable {
    /// All pixels change together.
    case fade
    /// An edge moves across the frame. Its softness is the width of the edge, as a fraction of the
    /// frame's extent in its direction, 0 ... 1.
    case wipe(WipeDirection = .right, softness: Double = Style.defaultSoftness)
    /// Cells of 2x2 pixels change in an order that depends on the seed. The softness is the share
    /// of the progress in which a cell changes, 0 ... 1.
    case dissolve(softness: Double = Style.defaultSoftness, seed: UInt32 = 0)

    /// The default softness.
    public static let defaultSoftness = 0.1
  }

  /// The direction in which the edge of a wipe moves, in the frame as stored.
  public enum WipeDirection: String, Sendable, Hashable, CaseIterable {
    /// From the left edge to the right one.
    case right
    /// From the right edge to the left one.
    case left
    /// From the top to the bottom.
    case down
    /// From the bottom to the top.
    case up
  }

  /// The duration, more than 0 and at most ``maxDuration``.
  public var duration: Duration
  /// The progress over time.
  public var curve: TransitionCurve
  /// The look.
  public var style: Style

  /// The longest duration.
  public static let maxDuration = Duration.seconds(60)

  /// Creates a transition; a linear fade by default.
  public init(_ duration: Duration, curve: TransitionCurve = .linear, style: Style = .fade) {
    self.duration = duration
    self.curve = curve
    self.style = style
  }

  /// A fade.
  public static func fade(_ duration: Duration, curve: TransitionCurve = .linear) -> Self {
    Self(duration, curve: curve)
  }

  /// A wipe; see ``Style/wipe(_:softness:)``.
  public static func wipe(
    _ duration: Duration, _ direction: WipeDirection = .right,
    softness: Double = Style.defaultSoftness, curve: TransitionCurve = .linear
  ) -> Self {
    Self(duration, curve: curve, style: .wipe(direction, softness: softness))
  }

  /// A dissolve; see ``Style/dissolve(softness:seed:)``.
  public static func dissolve(
    _ duration: Duration, softness: Double = Style.defaultSoftness, seed: UInt32 = 0,
    curve: TransitionCurve = .linear
  ) -> Self {
    Self(duration, curve: curve, style: .dissolve(softness: softness, seed: seed))
  }
}

/// A gradual change of parameters from their old values to new ones.
public struct ParameterGlide: Sendable, Hashable {
  /// The duration, more than 0 and at most ``PipelineTransition/maxDuration``.
  public var duration: Duration
  /// The progress over time.
  public var curve: TransitionCurve

  /// Creates a glide; linear by default.
  public init(_ duration: Duration, curve: TransitionCurve = .linear) {
    self.duration = duration
    self.curve = curve
  }
}

/// The progress of a transition over time: a monotone function of 0 ... 1 onto 0 ... 1.
public enum TransitionCurve: String, Sendable, Hashable, CaseIterable {
  /// x.
  case linear
  /// x^2.
  case easeIn
  /// 1 - (1 - x)^2.
  case easeOut
  /// 3 x^2 - 2 x^3.
  case easeInOut

  /// Returns the progress, 0 ... 1.
  ///
  /// - Parameter share: The elapsed share of the duration. Limited to 0 ... 1.
  public func callAsFunction(_ share: Double) -> Double {
    let x = min(max(share, 0), 1)
    return switch self {
    case .linear: x
    case .easeIn: x * x
    case .easeOut: 1 - (1 - x) * (1 - x)
    case .easeInOut: x * x * (3 - 2 * x)
    }
  }
}
