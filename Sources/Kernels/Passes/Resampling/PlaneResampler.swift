import CKernels

/// A resampler of one plane along rows and columns, with an axis for both.
package struct PlaneResampler: Sendable {
  /// The plane that is read.
  let source: PlaneShape
  /// Along rows.
  let horizontal: ResampleAxis
  /// Along columns.
  let vertical: ResampleAxis

  /// Computes rows in units of 1/32 level.
  ///
  /// - Parameters:
  ///   - band: The rows to compute.
  ///   - raster: The source.
  ///   - write: Called for every row in order, with its samples.
  func run(
    _ band: Range<Int>, from raster: RasterView,
    write: (_ y: Int, _ samples: UnsafeMutablePointer<Int16>) -> Void
  ) {
    if let horizontal = self.horizontal.fixed, let vertical = self.vertical.fixed {
      return unsafe self.run(band, from: raster, horizontal, vertical, write: write)
    }
    // Too many taps for integers: sums in floats.
    let rows = unsafe sl_rows_current().pointee
    let addRow = unsafe raster.depth == .eight ? rows.weighted_row_u8 : rows.weighted_row_i16
    let step = self.source.step
    let sums = FloatMemory(count: self.source.samples)
    let result = SampleMemory(count: self.horizontal.count * step)
    // Only the columns that are needed; starts do not decrease.
    let left = Int(self.horizontal.starts.first ?? 0)
    let right = Int(self.horizontal.starts.last ?? 0) + self.horizontal.taps
    let offset = left * step * raster.depth.byteCount
    unsafe self.horizontal.starts.withUnsafeBufferPointer { starts in
      unsafe self.horizontal.weights.withUnsafeBufferPointer { weights in
        for y in band {
          // Vertically first, in whole rows.
          let first = Int(self.vertical.starts[y])
          var adds: Int32 = 0
          for tap in 0 ..< self.vertical.taps {
            let weight = self.vertical.weights[y * self.vertical.taps + tap]
            guard weight != 0 || (adds == 0 && tap == self.vertical.taps - 1) else { continue }
            unsafe addRow(
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

extension PlaneResampler {
  /// Computes rows in integers, in the order of axes that needs less work.
  func run(
    _ band: Range<Int>, from raster: RasterView, _ horizontal: FixedResampleAxis,
    _ vertical: FixedResampleAxis,
    write: (_ y: Int, _ samples: UnsafeMutablePointer<Int16>) -> Void
  ) {
    if self.vertical.count < self.source.height {
      unsafe self.runColumnsFirst(band, raster, horizontal, vertical, write)
    } else {
      unsafe self.runRowsFirst(band, raster, horizontal, vertical, write)
    }
  }

  /// The shifts of the sums after both steps: weights have 14 bits, and sums of bytes have 6
  /// fractional bits after the first step.
  private static func shifts(_ depth: SampleDepth) -> (first: Int, second: Int) {
    depth == .eight ? (8, 15) : (14, 14)
  }

  private func runColumnsFirst(
    _ band: Range<Int>, _ raster: RasterView, _ horizontal: FixedResampleAxis,
    _ vertical: FixedResampleAxis,
    _ write: (_ y: Int, _ samples: UnsafeMutablePointer<Int16>) -> Void
  ) {
    let rows = unsafe sl_rows_current().pointee
    let sum = unsafe raster.depth == .eight ? rows.convolve_u8 : rows.convolve_i16
    let step = self.source.step
    let shifts = Self.shifts(raster.depth)
    // Only the columns that are needed; starts do not decrease.
    let left = Int(horizontal.starts.first ?? 0) * step
    let right = (Int(horizontal.starts.last ?? 0) + horizontal.taps) * step
    let memory = SampleMemory(count: self.source.samples + self.horizontal.count * step)
    let result = unsafe memory[self.source.samples]
    for y in band {
      unsafe Self.withTaps(vertical, y) { row in
        unsafe UnsafeRawPointer(
          raster.row(row, plane: self.source.plane) + left * raster.depth.byteCount)
      } _: { rowPointers, weights, count in
        unsafe sum(rowPointers, weights, count, 0, shifts.first, right - left, memory[left])
      }
      unsafe rows.resample_row_i16(
        memory[0], step, horizontal.starts, horizontal.weights, horizontal.taps,
        self.horizontal.count, shifts.second, result)
      unsafe write(y, result)
    }
  }

  private func runRowsFirst(
    _ band: Range<Int>, _ raster: RasterView, _ horizontal: FixedResampleAxis,
    _ vertical: FixedResampleAxis,
    _ write: (_ y: Int, _ samples: UnsafeMutablePointer<Int16>) -> Void
  ) {
    let rows = unsafe sl_rows_current().pointee
    let along = unsafe raster.depth == .eight ? rows.resample_row_u8 : rows.resample_row_i16
    let shifts = Self.shifts(raster.depth)
    // A ring of resampled rows: a row is valid until the row `taps` further is needed.
    let samples = self.horizontal.count * self.source.step
    let memory = SampleMemory(count: (vertical.taps + 1) * samples)
    let result = unsafe memory[vertical.taps * samples]
    var loadedRows = Array(repeating: -1, count: vertical.taps)
    for y in band {
      unsafe Self.withTaps(vertical, y) { row in
        let slot = row % vertical.taps
        let start = unsafe memory[slot * samples]
        if loadedRows[slot] != row {
          loadedRows[slot] = row
          unsafe along(
            raster.row(row, plane: self.source.plane), self.source.step, horizontal.starts,
            horizontal.weights, horizontal.taps, self.horizontal.count, shifts.first, start)
        }
        return UnsafeRawPointer(start)
      } _: { rowPointers, weights, count in
        unsafe rows.convolve_i16(rowPointers, weights, count, 0, shifts.second, samples, result)
      }
      unsafe write(y, result)
    }
  }

  /// Calls `body` with the source rows of a row, and their weights.
  private static func withTaps(
    _ axis: FixedResampleAxis, _ y: Int, _ row: (Int) -> UnsafeRawPointer,
    _ body: (UnsafePointer<UnsafeRawPointer>, UnsafePointer<Int16>, Int) -> Void
  ) {
    unsafe withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: axis.taps) {
      rowPointers in
      for tap in 0 ..< axis.taps {
        unsafe rowPointers.initializeElement(at: tap, to: row(Int(axis.starts[y]) + tap))
      }
      unsafe axis.weights.withUnsafeBufferPointer { weights in
        unsafe body(
          UnsafePointer(rowPointers.baseAddress.unsafelyUnwrapped),
          weights.baseAddress.unsafelyUnwrapped + y * axis.taps, axis.taps)
      }
    }
  }
}
