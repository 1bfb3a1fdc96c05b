/// One plane of a raster as rows of interleaved samples.
package struct PlaneShape: Sendable, Hashable {
  /// The plane's index.
  package let plane: Int
  /// Samples from one pixel of the plane to the next: 1, 2 (NV12's chroma), 3 or 4.
  package let step: Int
  /// Pixels a row.
  package let width: Int
  /// Rows.
  package let height: Int
  /// How many of the plane's pixels one pixel of the frame is: 1, or 1/2 for chroma.
  package let scale: Double

  /// Samples a row.
  package var samples: Int { self.width * self.step }

  /// The planes of pictures of a format and size.
  package static func planes(_ format: PixelFormat, _ size: FrameSize) -> [PlaneShape] {
    (0 ..< format.planeCount).map { plane in
      let isChroma = format.isYUV && plane > 0
      let width = isChroma ? (size.width + 1) / 2 : size.width
      return PlaneShape(
        plane: plane, step: format.rowByteCount(plane: plane, width: size.width) / width,
        width: width, height: format.rowCount(plane: plane, height: size.height),
        scale: isChroma ? 0.5 : 1)
    }
  }
}
