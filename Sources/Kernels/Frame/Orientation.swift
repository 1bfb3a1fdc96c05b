/// How a frame is to be shown: first mirrored, then turned. Passed on as it came; pixels stay.
public struct Orientation: Sendable, Hashable {
  /// Clockwise quarter turns, 0 ... 3.
  public var quarterTurns: Int
  /// Whether left and right are exchanged before the turn.
  public var isMirrored: Bool

  /// States an orientation; ``upright`` by default.
  public init(quarterTurns: Int = 0, isMirrored: Bool = false) {
    self.quarterTurns = quarterTurns
    self.isMirrored = isMirrored
  }

  /// Shown as stored.
  public static let upright = Orientation()
}
