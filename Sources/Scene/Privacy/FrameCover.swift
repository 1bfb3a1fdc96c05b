import CKernels
import SidelightKernels

/// The cover of a whole plane: the means of a coarse grid, blurred and interpolated.
///
/// Means over cells of the side `a`, a blur of the cells with the weights 1, 2, 1 and a linear
/// interpolation together have the variance `(1/12 + 1/2 + 1/6) a^2`, like a Gaussian with
/// `sigma = sqrt(3/4) a`. As in ``RegionCover``, means are of the frame on black, and the result is
/// opaque.
struct FrameCover: Sendable {
  /// The minimum side of a cell in pixels of the frame.
  private static let minSide = 4.0

  private let shape: PlaneShape
  private let isStraight: Bool
  private let columns: Int
  private let rows: Int

  /// - Parameters:
  ///   - shape: The plane.
  ///   - size: The size of the frame.
  ///   - sigma: The deviation of the blur in pixels of the frame.
  ///   - isStraight: Whether the frame has straight alpha.
  init(_ shape: PlaneShape, of size: FrameSize, sigma: Double, isStraight: Bool) {
    let side = max(sigma / 0.75.squareRoot(), Self.minSide)
    self.shape = shape
    self.isStraight = isStraight
    // Rounded down, to avoid smaller cells.
    self.columns = max(1, Int(Double(size.width) / side))
    self.rows = max(1, Int(Double(size.height) / side))
  }

  /// Covers the plane. The output may be the input.
  func run(from input: Raster, to output: Raster, _ context: PassContext) async {
    let cells = await self.colors(of: input, context).blurred()
    let expanded = self.expanded(cells)
    let destination = output.view
    let (shape, rows) = (self.shape, self.rows)
    await context.bands.run(
      rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.15
    ) { band in
      let table = unsafe sl_rows_current().pointee
      unsafe expanded.withUnsafeBufferPointer { expanded in
        let first = unsafe expanded.baseAddress.unsafelyUnwrapped
        for y in band {
          let place = Self.place(y, shape.height, rows)
          let (upper, lower) = unsafe (
            first + place.cell * shape.samples, first + place.next * shape.samples
          )
          let weight = Int16(min(place.fraction * 32768, 32767))
          let out = unsafe destination.row(y, plane: shape.plane)
          unsafe table.lerp_u8(
            upper, lower, weight, 5, shape.samples, out.assumingMemoryBound(to: UInt8.self))
        }
      }
    }
    withExtendedLifetime(output) {}
  }

  /// The means of the cells.
  private func colors(of raster: Raster, _ context: PassContext) async -> CellColors {
    let (shape, isStraight) = (self.shape, self.isStraight)
    let (columns, rows) = (self.columns, self.rows)
    let sums = GridSums(count: columns * rows)
    let view = raster.view
    await context.bands.run(
      rows: rows, nanoseconds: Double(shape.samples * shape.height) * 0.15
    ) { band in
      for row in band {
        let lines = row * shape.height / rows ..< (row + 1) * shape.height / rows
        sums.add(Self.sums(view, shape, isStraight, lines, columns), from: row * columns)
      }
    }
    withExtendedLifetime(raster) {}
    return CellColors(sums.values, columns: columns)
  }

  /// The sums of the cells of some rows of a plane, and the numbers of their samples.
  private static func sums(
    _ view: RasterView, _ shape: PlaneShape, _ isStraight: Bool, _ lines: Range<Int>,
    _ columns: Int
  ) -> [SIMD4<Int>] {
    let table = unsafe sl_rows_current().pointee
    let memory = SampleMemory(count: 3 * shape.samples)
    let sums = unsafe UnsafeMutableRawPointer(memory[0])
      .bindMemory(to: Int32.self, capacity: shape.samples)
    let scratch = unsafe UnsafeMutableRawPointer(memory[2 * shape.samples])
      .assumingMemoryBound(to: UInt8.self)
    for y in lines {
      let row = unsafe view.row(y, plane: shape.plane)
      let isMultiplied =
        unsafe isStraight
        && table.premultiply_pixels(
          row.assumingMemoryBound(to: UInt8.self), shape.width, scratch) != 0
      let colors = isMultiplied ? UnsafeRawPointer(scratch) : UnsafeRawPointer(row)
      unsafe table.accumulate_u8(colors, shape.samples, sums)
    }
    return (0 ..< columns).map { column in
      let pixels = column * shape.width / columns ..< (column + 1) * shape.width / columns
      var sum = SIMD4<Int>.zero
      for x in pixels {
        for channel in 0 ..< shape.step {
          unsafe sum[channel] &+= Int(sums[x * shape.step + channel])
        }
      }
      sum.w = pixels.count * lines.count
      return sum
    }
  }

  /// The rows of cells, interpolated across to the plane's width, as deep samples.
  private func expanded(_ cells: CellColors) -> [Int16] {
    let step = self.shape.step
    var samples: [Int16] = []
    samples.reserveCapacity(self.rows * self.shape.samples)
    for row in 0 ..< self.rows {
      for x in 0 ..< self.shape.width {
        let place = Self.place(x, self.shape.width, self.columns)
        let left = cells.colors[row * self.columns + place.cell]
        let right = cells.colors[row * self.columns + place.next]
        let color = (left + (right - left) * Float(place.fraction)) * 32
        for channel in 0 ..< step {
          samples.append(channel < 3 ? Int16(color[channel].rounded()) : 255 * 32)
        }
      }
    }
    return samples
  }

  /// The two cells with centres around a sample along one axis, and the second's weight.
  private static func place(
    _ sample: Int, _ samples: Int, _ cells: Int
  ) -> (cell: Int, next: Int, fraction: Double) {
    let place = (Double(sample) + 0.5) * Double(cells) / Double(samples) - 0.5
    let clamped = min(max(place, 0), Double(cells - 1))
    let cell = Int(clamped)
    return (cell, min(cell + 1, cells - 1), clamped - Double(cell))
  }
}
