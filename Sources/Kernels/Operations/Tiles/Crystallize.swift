import CKernels
import Synchronization

/// A mosaic of irregular polygons.
struct Crystallize: ArgumentFilter {
  static let description = FilterDescription(
    name: "crystallize",
    summary: "Maps the picture to polygons of one colour each.",
    category: .stylize, reach: .frame, fidelity: .modelled, isCoreImage: true,
    keywords: "mosaic",
    examples: ["crystallize(radius: 0.025h)"],
    formula: """
      Each pixel becomes the mean, rounded to nearest, of all pixels with the same nearest seed. \
      Seeds are on a grid through center, 2 radius apart; every second row is shifted by half of \
      that to the right, and each seed is moved by up to .32 of the distance in each direction, by \
      a hash of its position in the grid. Luma and chroma are averaged on their own planes; colour \
      is premultiplied
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(20), slider: 1 ... 100, limits: 1 ... 16384,
        unit: .pixels, "Half the distance between crystals."),
      ParameterDescription(
        "center", .point, default: .point(.center), "A point of the grid of crystals."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = geometry.size
    let radius = min(max(self.arguments.length("radius").pixels(in: size), 1), 16384)
    let (x, y) = self.arguments.point("center").pixels(in: size)
    return [
      FilterNode(
        .neighborhood(CellOperation(lattice: CellLattice(x: x, y: y, spacing: 2 * radius))))
    ]
  }
}

/// Means over the cells of scattered seeds. A pixel belongs to its nearest seed.
package struct CellOperation: NeighborhoodOperation {
  /// The seeds, in pixels of the frame.
  package let lattice: CellLattice

  package var summary: String { "means over crystals \(self.lattice.spacing) pixels apart" }

  /// A seed is at most 1.2 times their distance from the pixels that it is the nearest to.
  package func spread(in geometry: FrameGeometry) -> Double? {
    2.4 * self.lattice.spacing + ContentSpread.rounding
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    CellPass(setting: setting, lattice: self.lattice)
  }
}

/// Means over cells, plane by plane: first the sums of all cells, then all pixels.
struct CellPass: OperationPass {
  let setting: PassSetting
  /// The seeds, in pixels of the frame.
  let lattice: CellLattice

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
      let writer = RowWriter(
        context, shape, fractionBits: 5, keepsAlpha: self.setting.keepsFourthChannel)
      await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
        Self.fill(band, shape, span, means, writer)
      }
    }
  }

  private static func sum(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ span: CellSpan,
    _ sums: CellSums
  ) {
    let rows = unsafe sl_rows_current().pointee
    let add = unsafe source.depth == .eight ? rows.sum_cells_u8 : rows.sum_cells_i16
    let cells = span.cells(intersecting: band)
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
    _ writer: RowWriter
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
      unsafe writer.write(result, y: y, rows)
    }
  }
}

/// The sums of cells' samples. Bands add theirs in any order; integer sums do not depend on it.
final class CellSums: Sendable {
  private struct State {
    var sums: [Int64]
    var counts: [Int64]
  }

  private let state: Mutex<State>

  /// Creates zero sums.
  init(cells: Int) {
    self.state = Mutex(
      State(
        sums: Array(repeating: 0, count: 4 * cells), counts: Array(repeating: 0, count: cells)))
  }

  /// Adds four sums and a pixel count per cell, beginning with the cell `first`.
  func add(_ sums: [Int64], _ counts: [Int64], from first: Int) {
    self.state.withLock { state in
      for cell in counts.indices where counts[cell] > 0 {
        state.counts[first + cell] += counts[cell]
        for channel in 4 * cell ..< 4 * cell + 4 {
          state.sums[4 * first + channel] += sums[channel]
        }
      }
    }
  }

  /// Returns the means, rounded to nearest: four numbers per cell; 0 for cells without pixels.
  ///
  /// - Parameter unit: The factor of the sums.
  func means(unit: Double) -> [Int16] {
    self.state.withLock { state in
      state.sums.indices.map { index in
        let count = state.counts[index / 4]
        return count > 0
          ? Int16(clamping: Int((Double(state.sums[index]) * unit / Double(count)).rounded())) : 0
      }
    }
  }
}
