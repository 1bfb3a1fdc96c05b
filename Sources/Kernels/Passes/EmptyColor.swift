/// What stands where there is no image: transparent, and black.
enum EmptyColor {
  /// The code values of each plane, channel by channel.
  static func samples(_ geometry: FrameGeometry) -> [[Int16]] {
    switch geometry.format {
    case .bgra8, .rgba8: [[0, 0, 0, 0]]
    case .rgb24: [[0, 0, 0]]
    case .gray8: [[0]]
    case .i420: [[Self.black(geometry)], [128], [128]]
    case .nv12: [[Self.black(geometry)], [128, 128]]
    }
  }

  private static func black(_ geometry: FrameGeometry) -> Int16 {
    geometry.color.range == .video ? 16 : 0
  }
}
