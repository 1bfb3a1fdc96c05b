package import SidelightKernels

extension PixelFormat {
  /// - Returns: `nil` for compressed and unknown formats.
  package init?(_ wire: Sidelight_V1_PixelFormat) {
    switch wire {
    case .bgra8: self = .bgra8
    case .rgba8: self = .rgba8
    case .rgb24: self = .rgb24
    case .gray8: self = .gray8
    case .i420: self = .i420
    case .nv12: self = .nv12
    case .unspecified, .jpeg, .png, .UNRECOGNIZED: return nil
    }
  }
}

extension Sidelight_V1_PixelFormat {
  package init(_ format: PixelFormat) {
    self =
      switch format {
      case .bgra8: .bgra8
      case .rgba8: .rgba8
      case .rgb24: .rgb24
      case .gray8: .gray8
      case .i420: .i420
      case .nv12: .nv12
      }
  }
}
