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

  /// What the filter does where colour is computed in a space. There is no need to write this one
  /// unless the filter brings in pictures of its own, which are to be converted: the default takes
  /// colour as it is.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [Node]
}

extension Filter {
  /// What the filter does, whatever the space.
  public func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [Node] {
    self.nodes(for: geometry)
  }
}
