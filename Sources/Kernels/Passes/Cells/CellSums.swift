import Synchronization

/// What the samples of each cell sum up to. Bands add theirs; integers, so their order is nothing.
final class CellSums: Sendable {
  private struct State {
    var sums: [Int64]
    var counts: [Int64]
  }

  private let state: Mutex<State>

  /// - Parameter cells: How many cells there are.
  init(cells: Int) {
    self.state = Mutex(
      State(
        sums: Array(repeating: 0, count: 4 * cells), counts: Array(repeating: 0, count: cells)))
  }

  /// Adds four sums a cell, and how many pixels they are of, to the cells from the given one on.
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

  /// The means, rounded to nearest: four numbers a cell; 0 where there is no pixel.
  ///
  /// - Parameter unit: What a sum's unit is multiplied by.
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
