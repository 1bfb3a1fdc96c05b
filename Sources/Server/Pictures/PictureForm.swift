package import SidelightCodecs
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
  /// A picture of a stream of encoded video.
  case video(VideoCodec)

  /// - Returns: `nil` for an unknown format.
  package init?(_ wire: Sidelight_V1_PixelFormat) {
    switch wire {
    case .jpeg: self = .jpeg
    case .png: self = .png
    case .h264: self = .video(.h264)
    case .vp8: self = .video(.vp8)
    case .vp9: self = .video(.vp9)
    case .av1: self = .video(.av1)
    default:
      guard let format = PixelFormat(wire) else { return nil }
      self = .raw(format)
    }
  }

  /// Whether the picture is a file: complete in itself, and without an orientation.
  var isFile: Bool {
    switch self {
    case .raw, .video: false
    case .jpeg, .png: true
    }
  }

  /// The codec, if the picture is part of a stream of encoded video.
  var codec: VideoCodec? {
    if case .video(let codec) = self { codec } else { nil }
  }

  /// The coding of results that follows from the coding of the pictures.
  var answer: PictureCoding {
    self.codec.map { .video($0.canEncode ? $0 : .vp8) } ?? self
  }

  /// Whether the length of a picture is known only once it is encoded.
  var isCompressed: Bool { self.isFile || self.codec != nil }
}

extension Sidelight_V1_PixelFormat {
  package init(_ coding: PictureCoding) {
    switch coding {
    case .raw(let format): self.init(format)
    case .jpeg: self = .jpeg
    case .png: self = .png
    case .video(let codec): self.init(codec)
    }
  }

  /// The format of a codec's pictures.
  package init(_ codec: VideoCodec) {
    self =
      switch codec {
      case .h264: .h264
      case .vp8: .vp8
      case .vp9: .vp9
      case .av1: .av1
      }
  }
}

/// The properties of a picture that are known before decoding it. Pipelines are compiled for a
/// form.
package struct PictureForm: Sendable, Hashable {
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
