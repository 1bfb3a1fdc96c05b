import CKernels

/// A chain of colour matrices and fields on BGRA, RGBA or RGB bytes, in integers.
///
/// If the output's byte order differs from the input's, the pass reorders the channels.
package final class FoldedPixelsPass: Pass {
  package let description: PassDescription
  private let fold: sl_chain
  private let fieldRows: FieldRows
  /// Whether to set alpha to 255.
  private let setsOpaque: Bool
  /// Whether colour is premultiplied, and limited to alpha.
  private let limitsToAlpha: Bool

  /// Creates the pass.
  ///
  /// - Returns: `nil` for other formats, if alpha affects the result, and if the coefficients do
  ///   not fit the integers. A strip pass is used then.
  package init?(
    description: PassDescription, form: NormalForm, from source: FrameGeometry,
    to target: FrameGeometry,
    budget: PlanBudget
  ) {
    // Channels in memory order.
    guard let inputOrder = PixelOrder.colors(of: source.format),
      let order = PixelOrder.colors(of: target.format)
    else { return nil }
    let isIdentity = form.matrix == .identity && form.fields.isEmpty
    var limitsToAlpha = false
    switch (source.alpha, target.alpha) {
    case (.opaque, _): self.setsOpaque = source.format.hasAlpha && target.alpha != .opaque
    case (.straight, .straight): self.setsOpaque = false
    // Fields would multiply biases that depend on alpha.
    case (.premultiplied, .premultiplied) where form.fields.isEmpty:
      self.setsOpaque = false
      limitsToAlpha = !isIdentity
    default: return nil
    }
    self.limitsToAlpha = limitsToAlpha
    let used = form.biases.indices.dropLast().filter { form.biases[$0] != .zero }
    guard used.count <= Int(SL_CHAIN_TERMS) else { return nil }
    let matrix = limitsToAlpha ? form.matrix.premultiplied : form.matrix
    let rows = [matrix.red, matrix.green, matrix.blue]
    let map = ChainMap(
      weights: order.map { row in (inputOrder + [3]).map { rows[row][$0] } },
      biases: order.map { matrix.bias[$0] * 255 },
      terms: used.map { group in order.map { form.biases[group][$0] * 255 } },
      last: order.map { (form.biases.last ?? .zero)[$0] * 255 })
    // As many bits as the largest weight allows.
    let fold =
      form.fields.isEmpty
      ? stride(from: 14, through: 10, by: -1).lazy.compactMap { map.chain(shift: $0) }.first
      : [5, 4].lazy.compactMap { map.chain(shift: 9 + $0, fraction: $0) }.first
    guard let fold else { return nil }
    guard
      let fieldRows = FieldRows.sampling(
        form.fields, products: used.map { $0 + 1 }, size: source.size, budget: budget)
    else { return nil }
    self.fold = fold
    self.fieldRows = fieldRows
    self.description = description
  }

  /// An output sample depends on the input samples at its position, which its band reads first.
  /// Where 2x2 pixels share chroma, one band reads all of them before it writes.
  package var worksInPlace: Bool { true }

  package func run(_ context: PassContext) async {
    let size = context.output.size
    let cost = Double(size.pixelCount) * (0.25 + 0.15 * Double(self.fieldRows.count))
    await context.bands.run(rows: size.height, nanoseconds: cost) { band in
      self.run(band, context)
    }
  }

  private func run(_ band: Range<Int>, _ context: PassContext) {
    let rows = unsafe sl_rows_current().pointee
    let width = context.output.size.width
    var fold = self.fold
    let memory = SampleMemory(count: max(1, self.fieldRows.count * width))
    let pointers = unsafe (0 ..< 4).map { index in
      unsafe UnsafePointer(memory[min(index, max(0, self.fieldRows.count - 1)) * width])
    }
    let source = PixelStaging(context.inputs[0].view)
    let target = PixelStaging(context.output.view)
    for y in band {
      let input = unsafe source.input(y, rows)
      unsafe target.withOutput(y, rows) { output in
        if self.limitsToAlpha {
          unsafe rows.folded_pixels_premultiplied(input, width, &fold, output)
        } else if self.fieldRows.count == 0 {
          unsafe rows.folded_pixels(input, width, &fold, output)
        } else {
          unsafe self.fieldRows.fill(
            memory[0], y: y, width: width, time: context.time, rows: rows)
          unsafe pointers.withUnsafeBufferPointer {
            unsafe rows.folded_pixels_fields(
              input, width, &fold, $0.baseAddress.unsafelyUnwrapped, output)
          }
        }
        if self.setsOpaque { unsafe rows.set_opaque(output, width) }
      }
    }
  }
}

/// A chain in normal form on code values in memory order.
private struct ChainMap {
  /// The weights of a pixel's four bytes for all three results.
  let weights: [[Double]]
  /// In levels, like the other fields.
  let biases: [Double]
  let terms: [[Double]]
  let last: [Double]

  private typealias Triple = (Int16, Int16, Int16)
  private typealias Quad = (Int16, Int16, Int16, Int16)

  /// Returns the chain in integers.
  ///
  /// - Parameters:
  ///   - shift: The number of bits below 1 of a weight.
  ///   - fraction: The number of bits below a level of the sums that fields multiply; 0 without
  ///     fields.
  /// - Returns: `nil` if a number or a sum exceeds the integers.
  func chain(shift: Int, fraction: Int = 0) -> sl_chain? {
    let unit = Double(1 << shift)
    let weights = self.weights.map { $0.map { ($0 * unit).rounded() } }
    guard weights.joined().allSatisfy({ abs($0) <= 32767 }),
      fraction == 0 || self.isBounded(fraction: fraction),
      let biases = self.fixedBiases(unit, low: shift - fraction)
    else { return nil }
    var chain = sl_chain()
    chain.shift = Int32(shift)
    chain.fraction = Int32(fraction)
    func quad(_ row: [Double]) -> Quad {
      (Int16(row[0]), Int16(row[1]), Int16(row[2]), Int16(row[3]))
    }
    chain.coefficients = (quad(weights[0]), quad(weights[1]), quad(weights[2]))
    chain.bias = (biases[0], biases[1], biases[2])
    chain.term_count = Int32(self.terms.count)
    guard fraction > 0 else { return chain }
    func triple(_ levels: [Double], bits: Int) -> Triple {
      let fixed = levels.map { Int16(($0 * Double(1 << bits)).rounded()) }
      return (fixed[0], fixed[1], fixed[2])
    }
    unsafe withUnsafeMutableBytes(of: &chain.terms) { bytes in
      let terms = unsafe bytes.bindMemory(to: Triple.self)
      for (index, term) in self.terms.enumerated() {
        unsafe terms[index] = triple(term, bits: fraction)
      }
    }
    chain.last = triple(self.last, bits: fraction - 1)
    return chain
  }

  /// Whether all sums with fields, which have products below 2, fit 16 bits.
  private func isBounded(fraction: Int) -> Bool {
    let limit = 32000 / Double(1 << fraction)
    return self.weights.indices.allSatisfy { row in
      let bytes = self.weights[row].prefix(3)
      let most = bytes.reduce(self.biases[row]) { $0 + max(0, 255 * $1) }
      let least = bytes.reduce(self.biases[row]) { $0 + min(0, 255 * $1) }
      let product = max(most, -least, 0)
      let others = self.terms.reduce(abs(self.last[row]) / 2) { $0 + abs($1[row]) }
      return product + others < limit
    }
  }

  /// The biases, with at most 15 significant bits after adding the rounding's half; `nil` if they
  /// are too large.
  private func fixedBiases(_ unit: Double, low: Int) -> [Int32]? {
    let half = Double(1 << (low - 1))
    let exact = self.biases.map { $0 * unit + half }
    var step = 1.0
    while exact.contains(where: { abs(($0 / step).rounded()) > 32767 }) { step *= 2 }
    guard step <= Double(1 << (low - 2)) else { return nil }
    return exact.map { Int32(($0 / step).rounded() * step - half) }
  }
}
