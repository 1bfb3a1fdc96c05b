import CKernels

/// A narrow symmetric filter of one plane: per row, first vertically and then horizontally.
struct SymmetricPlane {
  let shape: PlaneShape
  let across: PlaneWeights
  let down: PlaneWeights
  let keepsAlpha: Bool

  /// Creates a filter.
  ///
  /// - Parameters:
  ///   - horizontal: The weights along rows at distances 0 and up, in pixels of the frame.
  ///   - vertical: The weights along columns.
  ///   - keepsAlpha: Whether to copy every fourth sample from the source.
  init(
    _ shape: PlaneShape, of size: FrameSize, horizontal: [Double], vertical: [Double],
    keepsAlpha: Bool
  ) {
    self.shape = shape
    self.across = PlaneWeights(horizontal, shape, length: size.width)
    self.down = PlaneWeights(vertical, shape, length: size.height)
    self.keepsAlpha = keepsAlpha
  }

  func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let shape = self.shape
    let writer = RowWriter(
      context, shape, fractionBits: source.depth == .eight ? 6 : 5, keepsAlpha: self.keepsAlpha)
    let taps = Double(4 + self.across.radius + self.down.radius)
    let cost = Double(shape.samples * shape.height) * 0.04 * taps
    await context.bands.run(rows: shape.height, nanoseconds: cost) { band in
      self.run(band, source, writer)
    }
  }

  private func run(_ band: Range<Int>, _ source: RasterView, _ writer: RowWriter) {
    let rows = unsafe sl_rows_current().pointee
    let shape = self.shape
    let margin = self.across.radius * shape.step
    let memory = SampleMemory(count: 2 * (shape.samples + 2 * margin))
    let column = unsafe memory[margin]
    let result = unsafe memory[shape.samples + 2 * margin]
    let isEightBit = source.depth == .eight
    let vertical = unsafe isEightBit ? rows.fir_vertical_u8 : rows.fir_vertical_i16
    func filter(_ weights: SymmetricWeights, from start: Int) {
      unsafe weights.values.withUnsafeBufferPointer {
        unsafe rows.fir_horizontal(
          column + start, shape.step, weights.radius, $0.baseAddress.unsafelyUnwrapped,
          shape.samples - start, isEightBit ? 1 : 0, result + start)
      }
    }
    for y in band {
      let down = self.down.weights(at: y, of: shape.height)
      unsafe RowPointers.withRows(source, shape, y - down.radius ... y + down.radius) { pointers in
        unsafe down.values.withUnsafeBufferPointer {
          unsafe vertical(
            pointers, down.radius, $0.baseAddress.unsafelyUnwrapped, shape.samples, column)
        }
      }
      unsafe rows.replicate_edges(column, shape.step, shape.width, self.across.radius)
      filter(self.across.inner, from: 0)
      if let last = self.across.last { filter(last, from: shape.samples - shape.step) }
      unsafe writer.write(result, y: y, rows)
    }
  }
}

extension PlaneWeights {
  /// The weights of a sample along the axis.
  func weights(at position: Int, of length: Int) -> SymmetricWeights {
    position == length - 1 ? self.last ?? self.inner : self.inner
  }
}

/// The weights of a symmetric filter along one axis of a plane.
///
/// Chroma of 4:2:0 formats is filtered like the pixels that share it: a pixel has its block's
/// sample, and a block's result is the mean of its pixels' results. With g the weights by distance
/// in pixels, this is a symmetric filter of the chroma plane with the weight g[2j] + (g[2j - 1] +
/// g[2j + 1]) / 2 at distance j. The last block along an odd side is one pixel wide, and its sample
/// repeats beyond it; its weights are then g[2j - 1] + g[2j] at distance j, and g[0] at its centre.
struct PlaneWeights: Sendable {
  /// The weights of all samples except, along odd sides, the last.
  let inner: SymmetricWeights
  /// The weights of the last sample along the axis, if they differ.
  let last: SymmetricWeights?

  /// The distance of the furthest neighbour.
  var radius: Int { max(self.inner.radius, self.last?.radius ?? 0) }

  /// Creates the weights of a plane.
  ///
  /// - Parameters:
  ///   - weights: The weights at distances 0 and up, in pixels of the frame.
  ///   - length: The length of the frame along the axis, in pixels.
  init(_ weights: [Double], _ shape: PlaneShape, length: Int) {
    guard shape.scale < 1 else {
      self.inner = SymmetricWeights(weights)
      self.last = nil
      return
    }
    func weight(_ distance: Int) -> Double {
      abs(distance) < weights.count ? weights[abs(distance)] : 0
    }
    let distances = 0 ... weights.count / 2
    self.inner = SymmetricWeights(
      distances.map { weight(2 * $0) + (weight(2 * $0 - 1) + weight(2 * $0 + 1)) / 2 })
    let isOdd = !length.isMultiple(of: 2)
    self.last =
      isOdd
      ? SymmetricWeights(
        distances.map { $0 == 0 ? weight(0) : weight(2 * $0 - 1) + weight(2 * $0) }) : nil
  }
}

/// The weights of a symmetric filter in the form that the C rows use.
struct SymmetricWeights: Sendable, Hashable {
  /// The weights at distances 0 ... ``radius``, in units of 1/32768. The sum over both sides is
  /// 32768 (one less where the centre alone would overflow).
  let values: [Int16]
  /// The distance of the furthest neighbour.
  var radius: Int { self.values.count - 1 }

  /// Normalises and rounds weights.
  ///
  /// - Parameter exact: The weights at distances 0 and up; not empty.
  init(_ exact: [Double]) {
    let sum = exact.reduce(-exact[0]) { $0 + 2 * $1 }
    var values = exact.map { Int(($0 / sum * 32768).rounded()) }
    // The centre takes the rounding error, to keep flat areas unchanged.
    values[0] += 32768 - (2 * values.reduce(0, +) - values[0])
    self.values = values.map { Int16(clamping: $0) }
  }

  /// Creates a sampled Gaussian.
  ///
  /// - Parameters:
  ///   - sigma: The standard deviation in samples, greater than 0.
  ///   - reach: The radius in standard deviations. A thousandth of the weight is beyond 3.3.
  init(sigma: Double, reach: Double = 3.3) {
    self.init(Self.gaussian(sigma: sigma, reach: reach))
  }

  /// A sampled Gaussian at distances 0 and up, not normalised.
  static func gaussian(sigma: Double, reach: Double = 3.3) -> [Double] {
    let radius = max(1, Int((sigma * reach).rounded(.up)))
    return (0 ... radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
  }

  /// The radius of a Gaussian, in standard deviations, for which a truncation error that is
  /// amplified by `gain` stays invisible. A thousandth of the weight is beyond 3.3, a hundred
  /// thousandth beyond 4.4.
  static func reach(gain: Double) -> Double {
    gain <= 1 ? 3.3 : gain <= 8 ? 3.9 : 4.4
  }
}
