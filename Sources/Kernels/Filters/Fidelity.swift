/// How close a filter can be to the one that it is named after.
public enum Fidelity: String, Sendable, Hashable, CaseIterable {
  /// The computation is documented or exact.
  case formula
  /// The behaviour is documented; our formula reproduces it.
  case modelled
  /// A fixed look, tuned by eye.
  case approximation
  /// A filter of somebody's own: it is what it is.
  case custom
}
