import CKernels

/// Means over cells, plane by plane: first all sums, then all pixels.
struct CellPass: Pass {
  let description: PassDescription
  private let keepsFourthChannel: Bool
  private let lattice: CellLattice

  init(_ setting: PassSetting, _ operation: CellOperation) {
    self.description = setting.description
    self.keepsFourthChannel = setting.keepsFourthChannel
    self.lattice = operation.lattice
  }

  func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let span = CellSpan(self.lattice.scaled(by: shape.scale), shape)
      let sums = CellSums(cells: span.count)
      let cost = Double(shape.samples * shape.height) * 0.3
      await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
        Self.sum(band, source, shape, span, sums)
      }
      let means = sums.means(unit: source.depth == .eight ? 32 : 1)
      let finish = RowFinish(
        context, shape, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
        Self.fill(band, shape, span, means, finish)
      }
    }
  }

  private static func sum(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ span: CellSpan,
    _ sums: CellSums
  ) {
    let rows = unsafe sl_rows_current().pointee
    let add = unsafe source.depth == .eight ? rows.sum_cells_u8 : rows.sum_cells_i16
    let cells = span.cells(meeting: band)
    var runs = CellRuns(span, from: cells.lowerBound)
    var totals = Array(repeating: Int64(0), count: 4 * cells.count)
    var counts = Array(repeating: Int64(0), count: cells.count)
    for y in band {
      runs.find(y: y)
      for (index, cell) in runs.cells.enumerated() {
        counts[Int(cell)] += Int64(runs.edges[index + 1] - runs.edges[index])
      }
      let row = unsafe source.row(y, plane: shape.plane)
      unsafe runs.edges.withUnsafeBufferPointer { edges in
        unsafe runs.cells.withUnsafeBufferPointer { cells in
          unsafe totals.withUnsafeMutableBufferPointer { totals in
            unsafe add(
              row, shape.step, edges.baseAddress.unsafelyUnwrapped,
              cells.baseAddress.unsafelyUnwrapped, cells.count,
              totals.baseAddress.unsafelyUnwrapped)
          }
        }
      }
    }
    sums.add(totals, counts, from: cells.lowerBound)
  }

  private static func fill(
    _ band: Range<Int>, _ shape: PlaneShape, _ span: CellSpan, _ means: [Int16],
    _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    var runs = CellRuns(span)
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    for y in band {
      runs.find(y: y)
      unsafe means.withUnsafeBufferPointer { means in
        unsafe runs.edges.withUnsafeBufferPointer { edges in
          unsafe runs.cells.withUnsafeBufferPointer { cells in
            unsafe rows.fill_cells(
              means.baseAddress.unsafelyUnwrapped, shape.step,
              edges.baseAddress.unsafelyUnwrapped, cells.baseAddress.unsafelyUnwrapped,
              cells.count, result)
          }
        }
      }
      unsafe finish.write(result, y: y, rows)
    }
  }
}
