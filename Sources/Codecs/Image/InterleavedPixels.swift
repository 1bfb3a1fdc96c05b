import SidelightKernels

/// A picture as the libraries for still images take it: one plane, whole pixels one after another.
@safe
struct InterleavedPixels {
  /// The samples of one pixel, in memory order.
  enum Order {
    case gray, rgb, rgba, bgra

    /// Bytes a pixel.
    var byteCount: Int {
      switch self {
      case .gray: 1
      case .rgb: 3
      case .rgba, .bgra: 4
      }
    }
  }

  /// The samples of one pixel.
  let order: Order
  /// The first pixel; valid only within the call that was given the value.
  let base: UnsafePointer<UInt8>
  /// Bytes from one row to the next.
  let stride: Int
}
