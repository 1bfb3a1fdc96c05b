extension Sidelight_V1_PixelFormat {
  /// Whether pixels of this format are a compressed file, which must be parsed.
  package var isFile: Bool {
    switch self {
    case .jpeg, .png: true
    case .unspecified, .bgra8, .rgba8, .rgb24, .gray8, .i420, .nv12, .UNRECOGNIZED: false
    }
  }
}
