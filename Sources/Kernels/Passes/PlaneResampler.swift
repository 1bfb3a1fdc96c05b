import CKernels

/// Resamples one plane along its rows and columns, each by an axis of its own.
package struct PlaneResampler: Sendable {
  /// The plane that is read.
  let source: PlaneShape
  /// Along rows.
  let horizontal: ResampleAxis
  /// Along columns.
  let vertical: ResampleAxis

  /// Computes rows and hands each on, in 1/32 levels.
  ///
  /// - Parameters:
  ///   - band: The rows that are wanted.
  ///   - raster: What is read.
  ///   - write: Called for each row in order, with its samples.
  func run(
    _ band: Range<Int>, from raster: RasterView,
    write: (_ y: Int, _ samples: UnsafeMutablePointer<Int16>) -> Void
  ) {
    if let horizontal = self.horizontal.fixed, let vertical = self.vertical.fixed {
      return unsafe self.run(band, from: raster, horizontal, vertical, write: write)
    }
    // Sums of very many neighbours, in floats.
    let rows = unsafe sl_rows_current().pointee
    let weigh = unsafe raster.depth == .eight ? rows.weighted_row_u8 : rows.weighted_row_i16
    let step = self.source.step
    let sums = FloatMemory(count: self.source.samples)
    let result = SampleMemory(count: self.horizontal.count * step)
    // Only the columns that are wanted; starts never fall.
    let left = Int(self.horizontal.starts.first ?? 0)
    let right = Int(self.horizontal.starts.last ?? 0) + self.horizontal.taps
    let offset = left * step * raster.depth.byteCount
    unsafe self.horizontal.starts.withUnsafeBufferPointer { starts in
      unsafe self.horizontal.weights.withUnsafeBufferPointer { weights in
        for y in band {
          // Columns first: whole rows, one after the other.
          let first = Int(self.vertical.starts[y])
          var adds: Int32 = 0
          for tap in 0 ..< self.vertical.taps {
            let weight = self.vertical.weights[y * self.vertical.taps + tap]
            guard weight != 0 || (adds == 0 && tap == self.vertical.taps - 1) else { continue }
            unsafe weigh(
              raster.row(first + tap, plane: self.source.plane) + offset, weight,
              (right - left) * step, adds, sums[left * step])
            adds = 1
          }
          unsafe rows.resample_row_float(
            sums[0], step, starts.baseAddress.unsafelyUnwrapped,
            weights.baseAddress.unsafelyUnwrapped, self.horizontal.taps, self.horizontal.count,
            result[0])
          unsafe write(y, result[0])
        }
      }
    }
  }
}
