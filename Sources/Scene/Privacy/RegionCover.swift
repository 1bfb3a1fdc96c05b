import SidelightKernels

/// The cover of a region on one plane of a frame: the means of the cells of its mosaic, and their
/// drawing.
///
/// All means are computed before drawing, which gives overlapping regions the means of the frame in
/// any order.
///
/// Means are of the frame on black, and covered pixels become opaque: alpha could show a face, and
/// select the pixels of a mean.
struct RegionCover: Sendable {
  private let grid: RegionGrid
  private let isStraight: Bool

  /// - Parameter isStraight: Whether the frame has straight alpha.
  init(_ grid: RegionGrid, isStraight: Bool) {
    self.grid = grid
    self.isStraight = isStraight
  }

  /// Returns the mean of every cell, from the samples with centres in it, also where the region
  /// does not cover them.
  func colors(of raster: Raster, _ bands: BandRunner) async -> CellColors {
    let (grid, isStraight) = (self.grid, self.isStraight)
    let count = grid.columns.count * grid.rows.count
    let sums = GridSums(count: count)
    let lines = grid.lines
    let view = raster.view
    await bands.run(
      rows: lines.count, nanoseconds: Double(lines.count * grid.shape.width) * 1.5
    ) { band in
      var local = [SIMD4<Int>](repeating: .zero, count: count)
      unsafe local.withUnsafeMutableBufferPointer { local in
        for line in band {
          let y = lines.lowerBound + line
          unsafe Self.add(grid, isStraight, y, view.row(y, plane: grid.shape.plane), to: local)
        }
      }
      sums.add(local)
    }
    withExtendedLifetime(raster) {}
    return CellColors(sums.values, columns: grid.columns.count)
  }

  /// Adds a row of samples to the sums of their cells.
  private static func add(
    _ grid: RegionGrid, _ isStraight: Bool, _ y: Int, _ row: UnsafeRawPointer,
    to sums: UnsafeMutableBufferPointer<SIMD4<Int>>
  ) {
    let samples = unsafe row.assumingMemoryBound(to: UInt8.self)
    let (columns, rows) = (grid.columns.count, grid.rows.count)
    let step = grid.shape.step
    grid.runs(grid.window(y), y) { column, row, run in
      guard 0 <= column, column < columns, 0 <= row, row < rows else { return }
      let first = unsafe samples + run.lowerBound * step
      let sum = unsafe Self.sum(first, run.count, step, isStraight)
      unsafe sums[row * columns + column] &+= sum
    }
  }

  /// The sums of the channels of samples and their number, both times 255 for straight alpha.
  @inline(__always)
  private static func sum(
    _ samples: UnsafePointer<UInt8>, _ count: Int, _ step: Int, _ isStraight: Bool
  ) -> SIMD4<Int> {
    var (one, two, three) = (0, 0, 0)
    switch step {
    case 1:
      for index in 0 ..< count { unsafe one &+= Int(samples[index]) }
    case 2:
      for index in 0 ..< count {
        unsafe one &+= Int(samples[2 * index])
        unsafe two &+= Int(samples[2 * index + 1])
      }
    case 4 where isStraight:
      for index in 0 ..< count {
        let alpha = unsafe Int(samples[4 * index + 3])
        unsafe one &+= Int(samples[4 * index]) &* alpha
        unsafe two &+= Int(samples[4 * index + 1]) &* alpha
        unsafe three &+= Int(samples[4 * index + 2]) &* alpha
      }
      return SIMD4(one, two, three, 255 &* count)
    default:
      for index in 0 ..< count {
        unsafe one &+= Int(samples[step * index])
        unsafe two &+= Int(samples[step * index + 1])
        unsafe three &+= Int(samples[step * index + 2])
      }
    }
    return SIMD4(one, two, three, count)
  }

  // MARK: - Drawing

  /// Draws the region over the samples of a raster.
  ///
  /// - Parameters:
  ///   - colors: The colours of the cells.
  ///   - style: Cells of one colour, or the interpolation of blurred ones.
  ///   - output: The raster, which has the frame's samples.
  ///   - bands: Divides the rows.
  func draw(
    _ colors: CellColors, _ style: FacePrivacyFilter.Style, on output: Raster, _ bands: BandRunner
  ) async {
    let grid = self.grid
    let colors = style == .blur ? colors.blurred() : colors
    let lines = grid.lines
    let view = output.view
    await bands.run(
      rows: lines.count,
      nanoseconds: Double(lines.count * grid.shape.width) * (style == .blur ? 4 : 0.5)
    ) { band in
      unsafe colors.colors.withUnsafeBufferPointer { cells in
        for line in band {
          let y = lines.lowerBound + line
          let row = unsafe view.row(y, plane: grid.shape.plane)
            .assumingMemoryBound(to: UInt8.self)
          switch style {
          case .mosaic: unsafe Self.drawCells(grid, cells, y, row)
          case .blur: unsafe Self.drawBlur(grid, cells, y, row)
          }
        }
      }
    }
    withExtendedLifetime(output) {}
  }

  private static func drawCells(
    _ grid: RegionGrid, _ cells: UnsafeBufferPointer<SIMD4<Float>>, _ y: Int,
    _ samples: UnsafeMutablePointer<UInt8>
  ) {
    let (columns, rows) = (grid.columns.count, grid.rows.count)
    let step = grid.shape.step
    grid.runs(grid.span(y), y) { column, row, run in
      let cell = min(max(row, 0), rows - 1) * columns + min(max(column, 0), columns - 1)
      let color = unsafe cells[cell]
      for x in run { unsafe Self.write(color, step, samples + x * step) }
    }
  }

  /// Interpolates linearly between the centres of cells; beyond the outer centres their colour.
  private static func drawBlur(
    _ grid: RegionGrid, _ cells: UnsafeBufferPointer<SIMD4<Float>>, _ y: Int,
    _ samples: UnsafeMutablePointer<UInt8>
  ) {
    let (columns, rows) = (grid.columns.count, grid.rows.count)
    let step = grid.shape.step
    let corner = SIMD2(Double(grid.columns.lowerBound), Double(grid.rows.lowerBound))
    let start = SIMD2<Float>(grid.start(y) - corner - 0.5)
    let slope = SIMD2<Float>(grid.step)
    let (lastColumn, lastRow) = (Float(columns - 1), Float(rows - 1))
    for x in grid.span(y) {
      let place = start + Float(x) * slope
      let (across, down) = (min(max(place.x, 0), lastColumn), min(max(place.y, 0), lastRow))
      let (column, row) = (Int(across), Int(down))
      let (u, v) = (across - Float(column), down - Float(row))
      let first = row * columns + column
      let right = column + 1 < columns ? 1 : 0
      let below = row + 1 < rows ? columns : 0
      let (a, b) = unsafe (cells[first], cells[first + right])
      let (c, d) = unsafe (cells[first + below], cells[first + below + right])
      let (upper, lower) = (a + (b - a) * u, c + (d - c) * u)
      unsafe Self.write(upper + (lower - upper) * v, step, samples + x * step)
    }
  }

  /// Writes an opaque colour over a pixel.
  @inline(__always)
  private static func write(
    _ color: SIMD4<Float>, _ step: Int, _ pixel: UnsafeMutablePointer<UInt8>
  ) {
    // Colours are in 0 ... 255. One by one, since the conversion of a vector is not inlined.
    unsafe pixel[0] = UInt8(truncatingIfNeeded: Int32(color.x + 0.5))
    if step > 1 { unsafe pixel[1] = UInt8(truncatingIfNeeded: Int32(color.y + 0.5)) }
    if step > 2 { unsafe pixel[2] = UInt8(truncatingIfNeeded: Int32(color.z + 0.5)) }
    if step > 3 { unsafe pixel[3] = 255 }
  }
}
