import CKernels

/// The luma of a frame, one byte per pixel: levels from black to white.
package struct LumaLevels: Sendable {
  /// The frame's size in pixels.
  package let size: FrameSize
  let black: Int
  let white: Int
  private let levels: [UInt8]

  /// Reads luma from a frame of any format: the luma plane if the format has one, clamped to black
  /// ... white; otherwise the Rec. 709 luma of the stored red, green and blue, rounded to a level.
  package init(_ frame: Frame) {
    let isVideo = frame.format.isYUV && frame.color.range == .video
    let (black, white): (UInt8, UInt8) = isVideo ? (16, 235) : (0, 255)
    self.size = frame.size
    (self.black, self.white) = (Int(black), Int(white))
    let shape = PlaneShape.planes(frame.format, frame.size)[0]
    let rows = unsafe sl_rows_current().pointee
    let weights = LumaWeights(frame.format).fixed
    self.levels = unsafe Array(unsafeUninitializedCapacity: frame.size.pixelCount) {
      levels, count in
      let start = unsafe levels.baseAddress.unsafelyUnwrapped
      let first = unsafe UnsafeRawPointer(frame.baseAddress(plane: 0))
      for y in 0 ..< shape.height {
        let row = unsafe first + y * frame.layout.planes[0].stride
        let out = unsafe start + y * shape.width
        if shape.step == 1 {
          unsafe rows.clamp_u8(row, black, white, shape.width, out)
        } else {
          unsafe weights.withUnsafeBufferPointer { weights in
            unsafe rows.luma_levels(
              row, shape.step, weights.baseAddress.unsafelyUnwrapped, shape.width, out)
          }
        }
      }
      count = frame.size.pixelCount
    }
  }

  /// Calls `body` with the levels, rows from top to bottom without padding.
  package func withSamples<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    unsafe self.levels.withUnsafeBufferPointer(body)
  }

  /// The number of pixels per level, for all 256 levels.
  var counts: [UInt32] {
    var counts = Array(repeating: UInt32(0), count: 256)
    unsafe self.levels.withUnsafeBufferPointer { levels in
      unsafe counts.withUnsafeMutableBufferPointer { counts in
        unsafe sl_rows_current().pointee.histogram_u8(
          levels.baseAddress.unsafelyUnwrapped, levels.count,
          counts.baseAddress.unsafelyUnwrapped)
      }
    }
    return counts
  }

  /// Returns the mean of the absolute differences from another frame's levels; `nil` if sizes or
  /// ranges differ.
  func meanDifference(from other: LumaLevels) -> Double? {
    guard self.size == other.size, self.black == other.black else { return nil }
    let sum = unsafe self.levels.withUnsafeBufferPointer { left in
      unsafe other.levels.withUnsafeBufferPointer { right in
        unsafe sl_rows_current().pointee.absolute_difference_u8(
          left.baseAddress.unsafelyUnwrapped, right.baseAddress.unsafelyUnwrapped, left.count)
      }
    }
    return Double(sum) / Double(self.levels.count)
  }

  /// Returns the mean of the absolute differences from another frame's levels in every cell of a
  /// grid, row by row; `nil` if sizes or ranges differ.
  ///
  /// - Parameters:
  ///   - columns: The cells of a row, 1 ... width. Cell i begins at floor(i width / columns).
  ///   - rows: The rows of cells, 1 ... height.
  func meanDifferences(from other: LumaLevels, columns: Int, rows: Int) -> [Double]? {
    guard self.size == other.size, self.black == other.black else { return nil }
    let (width, height) = (self.size.width, self.size.height)
    var means: [Double] = []
    means.reserveCapacity(columns * rows)
    unsafe self.levels.withUnsafeBufferPointer { left in
      unsafe other.levels.withUnsafeBufferPointer { right in
        let difference = unsafe sl_rows_current().pointee.absolute_difference_u8
        for row in 0 ..< rows {
          let lines = row * height / rows ..< (row + 1) * height / rows
          for column in 0 ..< columns {
            let start = column * width / columns
            let count = (column + 1) * width / columns - start
            var sum = 0.0
            for line in lines {
              let offset = line * width + start
              sum += unsafe Double(
                difference(
                  left.baseAddress.unsafelyUnwrapped + offset,
                  right.baseAddress.unsafelyUnwrapped + offset, count))
            }
            means.append(sum / Double(count * lines.count))
          }
        }
      }
    }
    return means
  }
}
