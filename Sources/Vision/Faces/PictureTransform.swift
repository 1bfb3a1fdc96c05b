import SidelightKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A map from positions in a window to positions in a picture: a turn, a scale and a shift.
///
/// Both sides have (0, 0) at the top left corner of the top left pixel.
struct PictureTransform: Sendable, Hashable {
  /// The turn in radians, clockwise.
  let angle: Double
  /// Pixels of the picture per pixel of the window.
  let scale: Double
  /// The position in the picture of the window's origin.
  let origin: PicturePoint
  private let cosine: Double
  private let sine: Double

  init(angle: Double, scale: Double, origin: PicturePoint) {
    self.angle = angle
    self.scale = scale
    self.origin = origin
    self.cosine = cos(angle)
    self.sine = sin(angle)
  }

  /// The map of a window, which is turned about its centre.
  init(center: PicturePoint, width: Double, height: Double, angle: Double, scale: Double) {
    let start = PictureTransform(angle: angle, scale: scale, origin: PicturePoint(x: 0, y: 0))
      .picture(PicturePoint(x: width / 2, y: height / 2))
    self.init(
      angle: angle, scale: scale,
      origin: PicturePoint(x: center.x - start.x, y: center.y - start.y))
  }

  /// Returns the position in the picture of a position in the window.
  func picture(_ point: PicturePoint) -> PicturePoint {
    PicturePoint(
      x: self.origin.x + self.scale * (self.cosine * point.x - self.sine * point.y),
      y: self.origin.y + self.scale * (self.sine * point.x + self.cosine * point.y))
  }

  /// The 2x3 matrix of the same map between the centres of pixels, as OpenCV counts positions.
  var centerMatrix: [Double] {
    let first = self.picture(PicturePoint(x: 0.5, y: 0.5))
    let a = self.scale * self.cosine
    let b = self.scale * self.sine
    return [a, -b, first.x - 0.5, b, a, first.y - 0.5]
  }
}
