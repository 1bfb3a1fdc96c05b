package import SidelightKernels

extension ColorDescription {
  /// Unknown values are read as unspecified, so that a newer sender is not refused.
  package init(_ wire: Sidelight_V1_ColorDescription) {
    self.init(
      range: wire.range == .full ? .full : .video,
      matrix: wire.matrix == .bt709 ? .bt709 : .bt601,
      alpha: AlphaMode(wire.alpha))
  }
}

extension AlphaMode {
  init(_ wire: Sidelight_V1_AlphaMode) {
    switch wire {
    case .opaque: self = .opaque
    case .premultiplied: self = .premultiplied
    case .straight, .unspecified, .UNRECOGNIZED: self = .straight
    }
  }
}

extension Sidelight_V1_ColorDescription {
  /// What the samples of pictures of a format mean: RGB and grey are full range, whatever range the
  /// description has for YUV.
  package init(_ color: ColorDescription, of format: SidelightKernels.PixelFormat) {
    self.init()
    self.range = color.range == .full || !format.isYUV ? .full : .video
    self.matrix = color.matrix == .bt709 ? .bt709 : .bt601
    self.alpha =
      switch color.alpha {
      case .opaque: .opaque
      case .premultiplied: .premultiplied
      case .straight: .straight
      }
  }
}
