import CKernels

/// Planes of floats of one size, in a buffer of a pool. One band at a time writes a row.
@safe
package final class FloatPlanes: @unchecked Sendable {  // passes write disjoint rows, then read all
  package let width: Int
  package let height: Int
  /// Floats from one plane of a row to the next. The planes of a row are adjacent.
  package let stride: Int
  private let planes: Int
  private let buffer: PixelBuffer
  private let floats: UnsafeMutablePointer<Float>

  /// Allocates planes. Their numbers are undefined.
  package init(width: Int, height: Int, planes: Int, pool: BufferPool) {
    self.width = width
    self.height = height
    self.planes = planes
    self.stride = (width + 15) & ~15
    let count = self.stride * planes * height
    self.buffer = pool.makeBuffer(byteCount: count * MemoryLayout<Float>.stride)
    unsafe self.floats = self.buffer.bytes.baseAddress.unsafelyUnwrapped
      .bindMemory(to: Float.self, capacity: count)
  }

  /// The first float of a plane's row.
  @inline(__always)
  package func row(_ y: Int, plane: Int = 0) -> UnsafeMutablePointer<Float> {
    unsafe self.floats + (y * self.planes + plane) * self.stride
  }
}

/// The planes of a picture from which a matte is refined: red, green and blue less 128, and the
/// matte in 0 ... 255, all whole numbers.
///
/// Sums of their products over a box of the guided filter are exact in floats, which avoids drift
/// of a running sum.
package typealias GuidePlanes = FloatPlanes

extension GuidePlanes {
  package static let mattePlane = 3

  /// Creates planes for a picture and its matte. Their numbers are undefined.
  package static func guide(_ size: FrameSize, pool: BufferPool) -> GuidePlanes {
    GuidePlanes(width: size.width, height: size.height, planes: 4, pool: pool)
  }
}

extension FloatPlanes {
  /// Blurs planes by using consecutive means over boxes. Boxes end at the edges.
  ///
  /// - Parameters:
  ///   - radii: The boxes' radii, up to 16.
  ///   - count: The number of planes, the first ones.
  ///   - other: Planes of the same size, which are overwritten.
  ///   - bands: Divides the rows.
  /// - Returns: The planes with the result: these or the other ones.
  package func blurred(
    radii: [Int], count: Int, with other: FloatPlanes, _ bands: BandRunner
  ) async -> FloatPlanes {
    var (source, target) = (self, other)
    for radius in radii where radius > 0 {
      let (from, to) = (source, target)
      let cost = Double(self.width * self.height * count * radius)
      await bands.run(rows: self.height, nanoseconds: cost) { band in
        let rows = unsafe sl_rows_current().pointee
        for y in band {
          let window = max(y - radius, 0) ... min(y + radius, from.height - 1)
          for plane in 0 ..< count {
            unsafe withUnsafeTemporaryAllocation(
              of: UnsafePointer<Float>.self, capacity: window.count
            ) { pointers in
              for (index, row) in window.enumerated() {
                unsafe pointers.initializeElement(
                  at: index, to: UnsafePointer(from.row(row, plane: plane)))
              }
              unsafe rows.box_mean(
                pointers.baseAddress.unsafelyUnwrapped, window.count, from.width, radius,
                to.row(y, plane: plane))
            }
          }
        }
      }
      swap(&source, &target)
    }
    return source
  }

  /// The radii of three boxes that together have about the variance of a Gaussian.
  package static func boxRadii(variance: Double) -> [Int] {
    var rest = max(variance, 0)
    return (0 ..< 3).map { index in
      // A box of radius r has the variance r (r + 1) / 3.
      let share = rest / Double(3 - index)
      let radius = min(Int((((1 + 12 * share).squareRoot() - 1) / 2).rounded()), 16)
      rest = max(rest - Double(radius * (radius + 1)) / 3, 0)
      return radius
    }
  }
}
