import SidelightKernels
import SidelightWire

extension VideoPicture {
  /// The picture that came.
  ///
  /// - Throws: ``FieldFault`` for an image that contradicts its pixels.
  init(
    _ image: Sidelight_V1_Image, over pixels: PixelBuffer?
  ) throws(FieldFault) {
    guard image.format == .jpeg, let pixels else {
      self = .frame(try image.frame(over: pixels, limits: .everything))
      return
    }
    let file = withExtendedLifetime(pixels) { [UInt8](UnsafeRawBufferPointer(pixels.bytes)) }
    self = .jpeg(file, orientation: try Orientation(image.orientation))
  }
}
