import SidelightKernels
package import SidelightScene

/// Searches whole pictures using one finder, and windows around known faces using another.
package struct TwoRangeFaceFinder: FaceFinder {
  private var far: any FaceFinder
  private var near: any FaceFinder

  /// - Parameters:
  ///   - far: The finder for whole pictures, in which faces are small.
  ///   - near: The finder for windows, which a face fills.
  package init(far: any FaceFinder, near: any FaceFinder) {
    self.far = far
    self.near = near
  }

  package var needsColor: Bool { self.far.needsColor || self.near.needsColor }

  package mutating func faces(in picture: LumaPicture) throws -> [DetectedFace] {
    try self.far.faces(in: picture)
  }

  package mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) throws -> [DetectedFace] {
    search.window == nil
      ? try self.far.faces(in: picture, color: color, search: search)
      : try self.near.faces(in: picture, color: color, search: search)
  }
}
