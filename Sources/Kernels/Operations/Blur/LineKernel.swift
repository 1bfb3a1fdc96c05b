/// The pixels along a line through the origin, as weighted pairs of neighbours.
///
/// The line has a tap per whole step along its greater extent. Across the line, a tap is between
/// two pixels and interpolates them.
package struct LineTaps: Sendable {
  /// One step along the line.
  package struct Tap: Sendable, Hashable {
    /// The left or upper pixel of the pair.
    package let x: Int
    package let y: Int
    /// The weight of the other pixel, 0 ..< 1.
    package let fraction: Double
    /// The share of the step that the line covers, greater than 0 and at most 1.
    package let weight: Double
  }

  /// The steps, from one end to the other.
  package let taps: [Tap]
  /// Whether pairs are vertical neighbours; otherwise they are horizontal neighbours.
  package let isFlat: Bool

  /// Creates the taps of a line.
  ///
  /// - Parameters:
  ///   - length: The line's length, in pixels.
  ///   - cosine: The line's direction to the right.
  ///   - sine: The line's direction downwards.
  package init(length: Double, cosine: Double, sine: Double) {
    self.isFlat = abs(cosine) >= abs(sine)
    let major = self.isFlat ? cosine : sine
    let slope = (self.isFlat ? sine : cosine) / major
    let half = length * abs(major) / 2
    let steps = max(0, Int((half - 0.5).rounded(.up)))
    var taps: [Tap] = []
    for step in -steps ... steps {
      let weight = steps == 0 ? 1 : min(1, half + 0.5 - Double(abs(step)))
      let across = Double(step) * slope
      // Positions within rounding errors of a pixel count as that pixel.
      let nearest = across.rounded()
      let position = abs(across - nearest) < 1e-9 ? nearest : across
      let floor = position.rounded(.down)
      taps.append(
        Tap(
          x: self.isFlat ? step : Int(floor), y: self.isFlat ? Int(floor) : step,
          fraction: position - floor, weight: weight))
    }
    self.taps = taps
  }
}

/// A weighted sum of pixels, in pairs, in the form that the C rows use.
struct LineKernel: Sendable {
  /// Two pixels given as offsets from the computed pixel, with weights of at least 0 and a sum of
  /// at most 1.
  struct Pair: Sendable {
    let first: (x: Int, y: Int)
    let second: (x: Int, y: Int)
    let weights: (first: Double, second: Double)
  }

  /// The pixels; at least one pair.
  let pairs: [Pair]

  /// The maximum horizontal offset.
  var margin: Int { self.pairs.reduce(1) { max($0, abs($1.first.x), abs($1.second.x)) } }
  /// The maximum vertical offset.
  var reach: Int { self.pairs.reduce(1) { max($0, abs($1.first.y), abs($1.second.y)) } }

  /// Creates the kernel of a line.
  init(_ line: LineTaps) {
    let (right, down) = line.isFlat ? (0, 1) : (1, 0)
    self.pairs = line.taps.map { tap in
      Pair(
        first: (tap.x, tap.y), second: (tap.x + right, tap.y + down),
        weights: (tap.weight * (1 - tap.fraction), tap.weight * tap.fraction))
    }
  }

  /// Returns the kernel for chroma that 2x2 pixels share. A sample counts for all of its pixels,
  /// and a result is the mean of its pixels' results. The last sample along an odd side belongs to
  /// one column or row of pixels.
  func onSharedChroma(isLastColumn: Bool, isLastRow: Bool) -> LineKernel {
    struct Offset: Hashable {
      let x, y: Int
    }
    let halves = (x: isLastColumn ? 0 ... 0 : 0 ... 1, y: isLastRow ? 0 ... 0 : 0 ... 1)
    var sums: [Offset: Double] = [:]
    func add(_ pixel: (x: Int, y: Int), _ weight: Double) {
      guard weight > 0 else { return }
      for y in halves.y {
        for x in halves.x {
          sums[Offset(x: (pixel.x + x) >> 1, y: (pixel.y + y) >> 1), default: 0] += weight
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
    let maxSum = twos.reduce(0) { max($0, $1.0.value + $1.1.value) }
    return LineKernel(
      pairs: twos.map { first, second in
        Pair(
          first: (first.key.x, first.key.y), second: (second.key.x, second.key.y),
          weights: (first.value / maxSum, second.value / maxSum))
      })
  }

  private init(pairs: [Pair]) {
    self.pairs = pairs
  }
}

/// The weights of a line as integers for the C rows.
struct LineWeights: Sendable {
  /// The weights per pair.
  let pairs: [(first: Int16, second: Int16)]
  /// The number of pairs with a sum that fits 16 bits; `nil` if products need 32 bits.
  let group: Int?
  /// The reciprocal of the sum of all weights.
  let scale: Float

  /// A few pairs need precise weights. Many pairs have small weights, for which units of 1/32
  /// suffice: with units of 1/16, lines of 17 pairs through noise have errors of two levels in rare
  /// pixels.
  private static let minCoarsePairs = 17
  private static let coarseUnit = 32.0

  /// Creates integer weights.
  ///
  /// - Parameters:
  ///   - kernel: The pixels and their weights.
  ///   - allowsCoarse: Whether samples are bytes, and most weights are 1.
  init(_ kernel: LineKernel, allowsCoarse: Bool) {
    let isCoarse = allowsCoarse && kernel.pairs.count >= Self.minCoarsePairs
    let fineUnit = min(4096, (65535 / Double(kernel.pairs.count)).rounded(.down))
    let unit = isCoarse ? Self.coarseUnit : fineUnit
    self.group = isCoarse ? Int(256 / Self.coarseUnit) : nil
    self.pairs = kernel.pairs.map { pair in
      let (first, second) = pair.weights
      let both = (unit * (first + second)).rounded()
      let fraction = first + second > 0 ? second / (first + second) : 0
      let rounded = (both * fraction).rounded()
      return (Int16(both - rounded), Int16(rounded))
    }
    self.scale = 1 / Float(self.pairs.reduce(0) { $0 + Int($1.first) + Int($1.second) })
  }
}
