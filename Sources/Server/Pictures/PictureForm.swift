package import SidelightKernels

/// What a picture is before its samples are looked at: what programs are chosen by.
package struct PictureForm: Sendable, Hashable {
  /// How it travels.
  package var coding: PictureCoding
  /// What its samples are, once they are decoded.
  package var geometry: FrameGeometry
  /// How it is to be shown.
  package var orientation: Orientation

  package init(
    coding: PictureCoding, geometry: FrameGeometry, orientation: Orientation = .upright
  ) {
    self.coding = coding
    self.geometry = geometry
    self.orientation = orientation
  }

  /// The form of a frame that travels as it is.
  package init(_ frame: Frame) {
    self.init(
      coding: .raw(frame.format), geometry: frame.geometry, orientation: frame.orientation)
  }
}
