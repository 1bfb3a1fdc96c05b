/// Something done to a frame, as a value.
///
/// A filter holds its settings and no pixels and no state; it says what it does as ``Node``s, and
/// the planner decides how that is computed. Built-in filters and a user's own are the same kind of
/// thing.
public protocol Filter: Sendable {
  /// What the filter is called, takes, computes and promises.
  var description: FilterDescription { get }

  /// What the filter does to frames of the given geometry, first to last.
  ///
  /// Called when a plan is made, not for each frame. No node means that these settings change
  /// nothing.
  func nodes(for geometry: FrameGeometry) -> [Node]
}
