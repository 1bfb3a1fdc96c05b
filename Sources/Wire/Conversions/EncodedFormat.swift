/// A format of predicted video.
public enum EncodedFormat: String, Sendable, Hashable, CaseIterable {
  /// H.264, in the byte stream format of Annex B.
  case h264
  /// VP8.
  case vp8
  /// VP9, profile 0.
  case vp9
  /// AV1, 8 bits, 4:2:0. Servers decode it and do not encode it.
  case av1

  /// - Returns: `nil` for other formats.
  package init?(_ wire: Sidelight_V1_PixelFormat) {
    switch wire {
    case .h264: self = .h264
    case .vp8: self = .vp8
    case .vp9: self = .vp9
    case .av1: self = .av1
    default: return nil
    }
  }
}

extension Sidelight_V1_PixelFormat {
  package init(_ format: EncodedFormat) {
    self =
      switch format {
      case .h264: .h264
      case .vp8: .vp8
      case .vp9: .vp9
      case .av1: .av1
      }
  }
}
