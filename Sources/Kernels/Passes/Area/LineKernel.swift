/// A weighted sum of pixels, by twos, as the rows in C add them.
struct LineKernel: Sendable {
  /// Two pixels by their places from the one that is computed, and their weights, which are at least
  /// 0 and together at most 1.
  struct Pair: Sendable {
    let first: (x: Int, y: Int)
    let second: (x: Int, y: Int)
    let weights: (first: Double, second: Double)
  }

  /// The pixels; at least one pair.
  let pairs: [Pair]

  /// How many pixels to the left or right are read.
  var margin: Int { self.pairs.reduce(1) { max($0, abs($1.first.x), abs($1.second.x)) } }
  /// How many rows above or below are read.
  var reach: Int { self.pairs.reduce(1) { max($0, abs($1.first.y), abs($1.second.y)) } }

  /// The pixels along a line.
  init(_ line: LineTaps) {
    let (right, down) = line.isFlat ? (0, 1) : (1, 0)
    self.pairs = line.taps.map { tap in
      Pair(
        first: (tap.x, tap.y), second: (tap.x + right, tap.y + down),
        weights: (tap.weight * (1 - tap.share), tap.weight * tap.share))
    }
  }

  /// The kernel for chroma that 2x2 pixels share. A sample counts for each of its pixels, and a result is
  /// the mean of their results; the last sample of an odd side has one column or row of pixels.
  func onSharedChroma(isLastColumn: Bool, isLastRow: Bool) -> LineKernel {
    struct Place: Hashable {
      let x, y: Int
    }
    let halves = (x: isLastColumn ? 0 ... 0 : 0 ... 1, y: isLastRow ? 0 ... 0 : 0 ... 1)
    var sums: [Place: Double] = [:]
    func add(_ pixel: (x: Int, y: Int), _ weight: Double) {
      guard weight > 0 else { return }
      for y in halves.y {
        for x in halves.x {
          sums[Place(x: (pixel.x + x) >> 1, y: (pixel.y + y) >> 1), default: 0] += weight
        }
      }
    }
    for pair in self.pairs {
      add(pair.first, pair.weights.first)
      add(pair.second, pair.weights.second)
    }
    let cells = sums.sorted { ($0.key.y, $0.key.x) < ($1.key.y, $1.key.x) }
    let twos = stride(from: 0, to: cells.count, by: 2).map { index in
      (cells[index], index + 1 < cells.count ? cells[index + 1] : (key: cells[index].key, value: 0))
    }
    let greatest = twos.reduce(0) { max($0, $1.0.value + $1.1.value) }
    return LineKernel(
      pairs: twos.map { first, second in
        Pair(
          first: (first.key.x, first.key.y), second: (second.key.x, second.key.y),
          weights: (first.value / greatest, second.value / greatest))
      })
  }

  private init(pairs: [Pair]) {
    self.pairs = pairs
  }
}
