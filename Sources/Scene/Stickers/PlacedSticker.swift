#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

import SidelightKernels

/// An image at its place in one frame.
struct PlacedSticker: Sendable {
  /// The reduction of the image that is drawn.
  let raster: Raster
  /// The map from the pixels of the frame to the pixels of the raster.
  let map: AffineMap
  /// The rows of the frame that the image may cover.
  let rows: Range<Int>
  /// The factor of the image, in 1/32768.
  let opacity: Int32
  private let width: Int

  /// Places an image.
  ///
  /// - Parameters:
  ///   - pyramid: The image.
  ///   - map: The map from the pixels of the image to the pixels of the frame.
  ///   - opacity: The factor of the image, 0 to 1.
  ///   - size: The size of the frame.
  /// - Returns: `nil` if the image doesn't cover pixels.
  init?(_ pyramid: ImagePyramid, _ map: AffineMap, opacity: Double, in size: FrameSize) {
    guard let step = map.inverse?.stretch else { return nil }
    let level = pyramid.level(step: step)
    let scaling = AffineMap(a: level.factor, b: 0, c: 0, d: level.factor, tx: 0, ty: 0)
    let forward = scaling.followed(by: map)
    guard let inverse = forward.inverse else { return nil }
    self.raster = level.raster
    self.map = inverse
    self.width = size.width
    self.opacity = Int32((opacity * 32768).rounded())
    // Half a pixel beyond the edges, where the image fades out.
    let (right, bottom) = (
      Double(level.raster.size.width) + 0.5, Double(level.raster.size.height) + 0.5
    )
    let corners = [(-0.5, -0.5), (right, -0.5), (-0.5, bottom), (right, bottom)]
    let edges = corners.map { forward($0.0, $0.1).y }
    let low = max((edges.min() ?? 0).rounded(.down), 0)
    let high = min((edges.max() ?? 0).rounded(.up), Double(size.height))
    guard low < high, self.opacity > 0 else { return nil }
    self.rows = Int(low) ..< Int(high)
  }

  /// Returns the pixels of a row of the frame that the image may cover; may be empty.
  func columns(_ y: Int) -> Range<Int> {
    // The position in the raster is start + x slope. Where it is between the bounds of both axes,
    // pixels are covered.
    let start = self.map(0.5, Double(y) + 0.5)
    var (low, high) = (0.0, Double(self.width))
    for (position, slope, length) in [
      (start.x, self.map.a, self.raster.size.width), (start.y, self.map.b, self.raster.size.height),
    ] {
      let (lower, upper) = (-0.5 - position, Double(length) + 0.5 - position)
      guard abs(slope) > 1e-9 else {
        if lower >= 0 || upper <= 0 { return 0 ..< 0 }
        continue
      }
      low = max(low, min(lower / slope, upper / slope).rounded(.up))
      high = min(high, max(lower / slope, upper / slope).rounded(.down) + 1)
    }
    return low < high ? Int(low) ..< Int(high) : 0 ..< 0
  }
}
