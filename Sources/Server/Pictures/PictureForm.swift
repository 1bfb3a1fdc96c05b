package import SidelightKernels
package import SidelightWire

/// How a picture travels.
package enum PictureCoding: Sendable, Hashable {
  /// As samples of a format.
  case raw(PixelFormat)
  /// As a JPEG file.
  case jpeg
  /// As a PNG file.
  case png

  /// - Returns: `nil` for what is no format.
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
