/// The order of a format's interleaved channels in memory.
enum PixelOrder {
  /// For each byte of a pixel whether it is red (0), green (1) or blue (2).
  ///
  /// - Returns: `nil` for formats that do not interleave colours.
  static func colors(of format: PixelFormat) -> [Int]? {
    switch format {
    case .bgra8: [2, 1, 0]
    case .rgba8, .rgb24: [0, 1, 2]
    case .gray8, .i420, .nv12: nil
    }
  }
}
