/// An analysis of where the picture changes.
struct MotionDetection: CatalogueFilter {
  static let description = FilterDescription(
    name: "motion",
    summary: "Finds the parts of the picture that move. Does not change frames.",
    category: .analysis, reach: .frame, fidelity: .formula,
    formula: """
      The frame is divided into columns x rows cells, cell i from floor(i width / columns). The \
      motion of a cell is the mean of |y - y'| of its pixels, y the luma of brightnessStatistics and \
      y' that of the frame analysed before; a cell moves if its motion is at least threshold. grid: \
      the motion of all cells, row by row. moving: the share of cells that move. motion (regions): \
      the bounding box of each group of moving cells that share an edge, largest first, at most 32; \
      its confidence is the group's mean motion over the threshold / 2, at most 1. A first frame, \
      and one of another size or range, reports nothing
      """,
    parameters: [
      ParameterDescription(
        "threshold", .number, default: .number(0.03), slider: 0 ... 0.2, limits: 0 ... 1,
        "The mean change of brightness from which a cell moves."),
      ParameterDescription(
        "columns", .number, default: .number(16), slider: 1 ... 64, limits: 1 ... 256,
        "The number of columns of cells, rounded; at most one for each pixel."),
      ParameterDescription(
        "rows", .number, default: .number(9), slider: 1 ... 64, limits: 1 ... 256,
        "The number of rows of cells, rounded; at most one for each pixel."),
      ParameterDescription(
        "everyNth", .number, default: .number(2), slider: 1 ... 30, limits: 1 ... 100_000,
        "The interval in frames: 2 analyses every second frame."),
    ])

  private let settings: Settings
  private let everyNth: Int

  init(_ arguments: Arguments) {
    self.settings = Settings(
      threshold: arguments.number("threshold"),
      columns: Int(arguments.number("columns").rounded()),
      rows: Int(arguments.number("rows").rounded()))
    self.everyNth = Int(arguments.number("everyNth").rounded())
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.analysis(Analysis(settings: self.settings, everyNth: self.everyNth))]
  }

  private struct Settings: Sendable {
    let threshold: Double
    let columns: Int
    let rows: Int
  }

  private struct Analysis: FrameAnalysis {
    let settings: Settings
    let everyNth: Int

    /// A single frame doesn't show motion.
    func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] { [:] }

    func makeAnalyzer() -> any FrameAnalyzer { Analyzer(settings: self.settings) }
  }

  private struct Analyzer: FrameAnalyzer {
    let settings: Settings
    private var previous: LumaLevels?

    init(settings: Settings) {
      self.settings = settings
    }

    mutating func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
      let levels = LumaLevels(frame)
      let (columns, rows) = (
        min(self.settings.columns, frame.size.width), min(self.settings.rows, frame.size.height)
      )
      let differences = self.previous.flatMap {
        levels.meanDifferences(from: $0, columns: columns, rows: rows)
      }
      self.previous = levels
      guard let differences else { return [:] }
      let span = Double(levels.white - levels.black)
      let motion = differences.map { $0 / span }
      let cells = MovingCells(
        motion: motion, columns: columns, threshold: self.settings.threshold)
      return [
        "grid": .vector(motion), "moving": .number(cells.share),
        "motion": .list(
          cells.groups.prefix(32).map { group in
            .region(
              group.box.region(of: frame.size, columns: columns, rows: rows),
              confidence: group.confidence, id: 0)
          }),
      ]
    }
  }
}

/// The cells of a grid that move, and their groups.
struct MovingCells {
  /// Moving cells that share edges.
  struct Group {
    /// The smallest rectangle of cells around the group.
    var box: CellBox
    /// The number of cells.
    var count: Int
    /// The mean motion over half of the threshold, at most 1.
    var confidence: Double
  }

  /// The groups, in descending order of their number of cells.
  private(set) var groups: [Group] = []
  /// The share of cells that move.
  private(set) var share = 0.0

  /// Groups cells.
  ///
  /// - Parameters:
  ///   - motion: The motion of every cell, row by row.
  ///   - columns: The cells of a row.
  ///   - threshold: The minimum motion of a moving cell.
  init(motion: [Double], columns: Int, threshold: Double) {
    // A still cell does not move, even with a threshold of 0.
    var isMoving = motion.map { $0 >= threshold && $0 > 0 }
    self.share = Double(isMoving.count { $0 }) / Double(motion.count)
    for start in motion.indices where isMoving[start] {
      var group = Group(
        box: CellBox(column: start % columns, row: start / columns), count: 0, confidence: 0)
      var sum = 0.0
      var open = [start]
      isMoving[start] = false
      while let cell = open.popLast() {
        let (column, row) = (cell % columns, cell / columns)
        group.box.include(column: column, row: row)
        group.count += 1
        sum += motion[cell]
        let neighbors = [
          column > 0 ? cell - 1 : nil, column + 1 < columns ? cell + 1 : nil,
          cell - columns, cell + columns,
        ]
        for case .some(let next) in neighbors
        where isMoving.indices.contains(next) && isMoving[next] {
          isMoving[next] = false
          open.append(next)
        }
      }
      group.confidence =
        threshold > 0 ? min(1, sum / Double(group.count) / (2 * threshold)) : 1
      self.groups.append(group)
    }
    self.groups.sort { $0.count > $1.count }
  }
}

/// A rectangle of cells of a grid, never empty.
struct CellBox: Sendable, Hashable {
  private(set) var columns: ClosedRange<Int>
  private(set) var rows: ClosedRange<Int>

  /// One cell.
  init(column: Int, row: Int) {
    self.columns = column ... column
    self.rows = row ... row
  }

  /// Extends the rectangle to a cell.
  mutating func include(column: Int, row: Int) {
    self.columns =
      min(self.columns.lowerBound, column) ... max(self.columns.upperBound, column)
    self.rows = min(self.rows.lowerBound, row) ... max(self.rows.upperBound, row)
  }

  /// The rectangle in the pixels of a frame that the grid divides.
  func region(of size: FrameSize, columns: Int, rows: Int) -> Region {
    let (left, right) = (
      self.columns.lowerBound * size.width / columns,
      (self.columns.upperBound + 1) * size.width / columns
    )
    let (top, bottom) = (
      self.rows.lowerBound * size.height / rows, (self.rows.upperBound + 1) * size.height / rows
    )
    return Region(
      origin: FramePoint(x: Length(Double(left)), y: Length(Double(top))),
      width: Length(Double(right - left)), height: Length(Double(bottom - top)))
  }
}
