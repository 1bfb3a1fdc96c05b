package import SidelightKernels
package import SidelightWire

/// The coding of a picture in a message.
package enum PictureCoding: Sendable, Hashable {
  /// Samples of a format.
  case raw(PixelFormat)
  /// A JPEG file.
  case jpeg
  /// A PNG file.
  case png

  /// - Returns: `nil` for an unknown format.
  package init?(_ wire: Sidelight_V1_PixelFormat) {
    switch wire {
    case .jpeg: self = .jpeg
    case .png: self = .png
    default:
      guard let format = PixelFormat(wire) else { return nil }
      self = .raw(format)
    }
  }

  /// Whether the picture is a file: complete in itself, and without an orientation.
  var isFile: Bool {
    switch self {
    case .raw: false
    case .jpeg, .png: true
    }
  }
}

extension Sidelight_V1_PixelFormat {
  package init(_ coding: PictureCoding) {
    switch coding {
    case .raw(let format): self.init(format)
    case .jpeg: self = .jpeg
    case .png: self = .png
    }
  }
}

/// The properties of a picture that are known before decoding it. Pipelines are compiled for a
/// form.
package struct PictureForm: Sendable, Hashable {
  /// The coding in the message.
  package var coding: PictureCoding
  /// The geometry of the decoded samples.
  package var geometry: FrameGeometry
  /// The orientation in which to show the picture.
  package var orientation: Orientation

  package init(
    coding: PictureCoding, geometry: FrameGeometry, orientation: Orientation = .upright
  ) {
    self.coding = coding
    self.geometry = geometry
    self.orientation = orientation
  }

  /// The form of a frame of samples.
  package init(_ frame: Frame) {
    self.init(
      coding: .raw(frame.format), geometry: frame.geometry, orientation: frame.orientation)
  }
}
