extension ReferencePlane {
  /// The plane with alpha, where it has any, kept within 0 ... 255, and colour within
  /// -alpha ... 2 alpha.
  func boundedByAlpha(of geometry: FrameGeometry) -> ReferencePlane {
    guard geometry.format.hasAlpha, geometry.color.alpha != .opaque else { return self }
    return self.map { x, y, channel in
      let alpha = min(max(self[x, y, 3], 0), 255)
      return channel == 3 ? alpha : min(max(self[x, y, channel], -alpha), 2 * alpha)
    }
  }
}
