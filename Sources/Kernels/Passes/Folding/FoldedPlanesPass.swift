import CKernels

/// A chain of colour matrices and fields on the planes of I420, NV12 or grey frames. The chain is
/// transformed into the format's coordinates, which avoids converting pixels.
///
/// Chroma is computed from the mean of the luma that shares it, with the mean of the fields.
package final class FoldedPlanesPass: Pass {
  package let description: PassDescription
  /// For luma and the two chroma planes: the weights of (luma, Cb, Cr) in units of 1/8192.
  private let weights: [[Int16]]
  /// c0 of every plane in units of 1/32 level.
  private let biases: [Int16]
  private let planes: [sl_chain_plane]
  private let fieldRows: FieldRows

  /// Creates the pass.
  ///
  /// - Returns: `nil` if the coefficients do not fit the integers. A strip pass is used then.
  package init?(
    description: PassDescription, form: NormalForm, from source: FrameGeometry,
    to target: FrameGeometry,
    budget: PlanBudget
  ) {
    guard source.format.isYUV == target.format.isYUV, let decoding = PlaneCoding(source),
      let coding = PlaneCoding(target)
    else { return nil }
    let matrix = coding.matrix(form.matrix, from: decoding)
    guard matrix.joined().allSatisfy({ abs($0) < 3.99 }) else { return nil }
    self.weights = matrix.map { $0.map { Int16(($0 * 8192).rounded()) } }
    // Code values have offsets and colours do not; c0 includes the difference.
    let (black, newBlack) = (decoding.offsets, coding.offsets)
    let first = coding.vector(form.matrix.bias)
    let biases = first.indices.map { row in
      (first[row] - zip(matrix[row], black).reduce(0) { $0 + $1.0 * $1.1 }) * 32
    }
    guard biases.allSatisfy({ abs($0) < 32000 }) else { return nil }
    self.biases = biases.map { Int16($0.rounded()) }

    let used = form.biases.indices.dropLast().filter { form.biases[$0] != .zero }
    guard used.count <= Int(SL_CHAIN_TERMS) else { return nil }
    let last = coding.vector(form.biases.last ?? .zero)
    var planes: [sl_chain_plane] = []
    for row in first.indices {
      var plane = sl_chain_plane()
      plane.term_count = Int32(used.count)
      let terms = used.map { coding.vector(form.biases[$0])[row] * 32 }
      let end = (last[row] + newBlack[row]) * (form.fields.isEmpty ? 32 : 16)
      guard (terms + [end]).allSatisfy({ abs($0) < 32000 }) else { return nil }
      unsafe withUnsafeMutableBytes(of: &plane.terms) { bytes in
        let fixed = unsafe bytes.bindMemory(to: Int16.self)
        for (index, term) in terms.enumerated() { unsafe fixed[index] = Int16(term.rounded()) }
      }
      plane.last = Int16(end.rounded())
      planes.append(plane)
    }
    self.planes = planes
    guard
      let fieldRows = FieldRows.sampling(
        form.fields, products: used.map { $0 + 1 }, size: source.size, budget: budget)
    else { return nil }
    self.fieldRows = fieldRows
    self.description = description
  }

  /// An output sample depends on the input samples at its position, which its band reads first.
  /// Where 2x2 pixels share chroma, one band reads all of them before it writes.
  package var worksInPlace: Bool { true }

  package func run(_ context: PassContext) async {
    let size = context.output.size
    let isYUV = context.output.format.isYUV
    let cost = Double(size.pixelCount) * (0.15 + 0.15 * Double(self.fieldRows.count))
    await context.bands.run(
      rows: size.height, alignment: isYUV ? 2 : 1, nanoseconds: cost
    ) { band in
      if isYUV { self.runYUV(band, context) } else { self.runGray(band, context) }
    }
  }

  private func runGray(_ band: Range<Int>, _ context: PassContext) {
    let rows = unsafe sl_rows_current().pointee
    let width = context.output.size.width
    let fieldMemory = SampleMemory(count: max(1, self.fieldRows.count * width))
    let contributions = SampleMemory(count: width / 2 + 1)
    unsafe contributions[0].update(repeating: self.biases[0], count: width / 2 + 1)
    var plane = self.planes[0]
    for y in band {
      if self.fieldRows.count > 0 {
        unsafe self.fieldRows.fill(
          fieldMemory[0], y: y, width: width, time: context.time, rows: rows)
      }
      unsafe self.withFields(fieldMemory[0], width) { fields in
        unsafe rows.folded_luma(
          context.inputs[0].row(y).assumingMemoryBound(to: UInt8.self), contributions[0],
          self.weights[0][0], width, &plane, fields,
          context.output.row(y).assumingMemoryBound(to: UInt8.self))
      }
    }
  }

  private func runYUV(_ band: Range<Int>, _ context: PassContext) {
    let rows = unsafe sl_rows_current().pointee
    let size = context.output.size
    let half = (size.width + 1) / 2
    let fieldCount = self.fieldRows.count
    // The fields of two rows and of their chroma; the input's chroma, the mean luma, and the
    // results.
    let memory = SampleMemory(count: fieldCount * (2 * size.width + half) + 6 * half)
    let fieldSpan = fieldCount * size.width
    let chromaFields = unsafe memory[2 * fieldSpan]
    func scratch(_ index: Int) -> UnsafeMutablePointer<Int16> {
      unsafe memory[2 * fieldSpan + fieldCount * half + index * half]
    }
    let (us, vs, means) = unsafe (scratch(0), scratch(1), scratch(2))
    let (contributions, newUs, newVs) = unsafe (scratch(3), scratch(4), scratch(5))
    let source = FoldedChroma(context.inputs[0].view)
    let destination = FoldedChroma(context.output.view)
    var planes = self.planes
    let mixesLuma = self.weights[1][0] != 0 || self.weights[2][0] != 0
    let chromaWeights: [Int16] = [0, self.weights[0][1], self.weights[0][2]]
    let (weights, biases) = (self.weights, self.biases)
    for y in stride(from: band.lowerBound, to: band.upperBound, by: 2) {
      let second = min(y + 1, size.height - 1)
      let input = unsafe source.rows(y)
      let output = unsafe destination.rows(y)
      unsafe rows.load_chroma_rows(input.u, input.v, source.step, half, us, vs)
      // Before luma is written: the output may be the input's memory.
      if mixesLuma {
        unsafe rows.mean_luma(source.luma(y), source.luma(second), size.width, means)
      }
      unsafe rows.combine_planes(us, us, vs, chromaWeights, biases[0], half, contributions)
      for (index, row) in [y, second].enumerated() where index == 0 || second > y {
        let fields = unsafe memory[index * fieldSpan]
        if fieldCount > 0 {
          unsafe self.fieldRows.fill(
            fields, y: row, width: size.width, time: context.time, rows: rows)
        }
        unsafe self.withFields(fields, size.width) { fields in
          unsafe rows.folded_luma(
            source.luma(row), contributions, weights[0][0], size.width, &planes[0], fields,
            destination.luma(row))
        }
      }
      for index in 0 ..< fieldCount {
        let upper = unsafe memory[index * size.width]
        let lower = unsafe memory[(second > y ? fieldSpan : 0) + index * size.width]
        unsafe rows.mean_field(upper, lower, size.width, chromaFields + index * half)
      }
      unsafe rows.combine_planes(means, us, vs, weights[1], biases[1], half, newUs)
      unsafe rows.combine_planes(means, us, vs, weights[2], biases[2], half, newVs)
      unsafe self.withFields(chromaFields, half) { fields in
        unsafe rows.folded_plane(newUs, half, &planes[1], fields)
        unsafe rows.folded_plane(newVs, half, &planes[2], fields)
      }
      unsafe rows.store_chroma_rows(newUs, newVs, destination.step, half, output.u, output.v)
    }
  }

  /// Calls `body` with pointers to the rows of fields, or with `nil` without fields.
  private func withFields(
    _ start: UnsafeMutablePointer<Int16>, _ width: Int,
    _ body: (UnsafePointer<UnsafePointer<Int16>>?) -> Void
  ) {
    let count = self.fieldRows.count
    guard count > 0 else { return body(nil) }
    unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<Int16>.self, capacity: count) {
      pointers in
      for index in 0 ..< count {
        unsafe pointers.initializeElement(at: index, to: UnsafePointer(start + index * width))
      }
      unsafe body(UnsafePointer(pointers.baseAddress))
    }
  }
}

/// The transformation of colours into the coordinates of a format's planes: code values relative to
/// black.
struct PlaneCoding {
  /// The code values of black.
  let offsets: [Double]
  /// Colour in 0 ... 1 to code values relative to black.
  private let encode: [SIMD4<Double>]
  /// Code values relative to black to colour.
  private let decode: [SIMD4<Double>]

  /// Creates the coding of a format.
  ///
  /// - Returns: `nil` for formats with interleaved colours.
  init?(_ geometry: FrameGeometry) {
    switch geometry.format {
    case .bgra8, .rgba8, .rgb24: return nil
    case .gray8:
      self.offsets = [0]
      self.encode = [SIMD4(ColorMatrix.luma * 255, 0)]
      self.decode = [[1 / 255.0, 1 / 255.0, 1 / 255.0, 0]]
    case .i420, .nv12:
      let coding = YUVCoding(geometry.color)
      let black: SIMD4<Double> = [0, 0, 0, 1]
      self.offsets = [coding.luma(black), 128, 128]
      func column(_ channel: Int) -> [Double] {
        var pixel = black
        pixel[channel] = 1
        return [coding.luma(pixel) - coding.luma(black)]
          + coding.chroma(pixel).map { $0 - 128 }
      }
      let columns = (0 ..< 3).map(column)
      self.encode = (0 ..< 3).map { row in [columns[0][row], columns[1][row], columns[2][row], 0] }
      let base = coding.luma(black)
      self.decode = [
        coding.decode(base + 1, 128, 128), coding.decode(base, 129, 128),
        coding.decode(base, 128, 129),
      ]
    }
  }

  /// A colour difference in code values.
  func vector(_ color: SIMD4<Double>) -> [Double] {
    self.encode.map { ($0 * SIMD4(color.x, color.y, color.z, 0)).sum() }
  }

  /// The linear part of a colour matrix on code values relative to black; one row per result.
  ///
  /// - Parameter source: The coding of the input.
  func matrix(_ matrix: ColorMatrix, from source: PlaneCoding) -> [[Double]] {
    var linear = matrix
    linear.bias = .zero
    let columns = source.decode.map { code -> [Double] in
      self.vector(linear([code.x, code.y, code.z, 0]))
    }
    return self.encode.indices.map { row in columns.map { $0[row] } }
  }
}
