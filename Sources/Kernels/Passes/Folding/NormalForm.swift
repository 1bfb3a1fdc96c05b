import CKernels

/// Rows of factors for a chain in normal form: products of fields, in units of 1/16384.
@safe
final class FieldRows: @unchecked Sendable {  // the buffers are written once, in init
  private let fields: [PlannedField]
  private let views: UnsafeMutableBufferPointer<FieldView>
  /// The start of every product: j is the product of the fields from number j on.
  private let starts: UnsafeMutableBufferPointer<Int>

  /// The number of rows that ``fill(_:y:width:time:rows:)`` writes.
  let count: Int

  /// Creates rows of products.
  ///
  /// - Parameter products: The products that are needed in addition to the product of all fields.
  /// - Returns: `nil` if a product may exceed the range of 16 bits in units of 1/16384.
  private init?(_ fields: [PlannedField], products: [Int]) {
    var bound: Float = 1
    for field in fields {
      // No product exceeds this bound: it includes every field with a maximum above 1.
      bound *= max(1, field.maximum)
      guard field.maximum < 1.99, bound < 1.99 else { return nil }
    }
    self.fields = fields
    self.count = fields.isEmpty ? 0 : 1 + products.count
    unsafe self.views = .allocate(capacity: fields.count)
    _ = unsafe self.views.initialize(from: fields.map(\.view))
    unsafe self.starts = .allocate(capacity: self.count)
    _ = unsafe self.starts.initialize(from: fields.isEmpty ? [] : [0] + products)
  }

  /// Samples fields for a frame's size, and creates their rows.
  ///
  /// - Returns: `nil` as for ``init(_:products:)``, or if the plan's budget is exceeded.
  static func sampling(
    _ fields: [ScalarField], products: [Int], size: FrameSize, budget: PlanBudget
  ) -> FieldRows? {
    let planned = fields.compactMap { budget.plan($0, size: size) }
    if planned.count == fields.count, let rows = FieldRows(planned, products: products) {
      return rows
    }
    // The strip pass that is used instead samples the fields again.
    if !budget.isExceeded { budget.release(planned) }
    return nil
  }

  deinit {
    unsafe self.views.deallocate()
    unsafe self.starts.deallocate()
  }

  /// Writes the rows of products, `width` samples apart, beginning with the product of all fields.
  func fill(
    _ out: UnsafeMutablePointer<Int16>, y: Int, width: Int, time: FrameTime,
    rows: sl_rows
  ) {
    // From the last row on: a product of more fields begins with the row of fewer.
    for index in (0 ..< self.count).reversed() {
      let row = unsafe out + index * width
      let start = unsafe self.starts[index]
      var end = unsafe self.views.count
      if index + 1 < self.count {
        end = unsafe self.starts[index + 1]
        unsafe row.update(from: row + width, count: width)
      }
      for field in start ..< end {
        let multiplies = field > start || index + 1 < self.count
        unsafe self.views[field].fillFixed(
          row, y: y, width: width, time: time, multiplies: multiplies, rows)
      }
    }
  }
}

/// A chain of colour matrices and fields as one expression:
///
/// `out = G0 * (M p + c0) + G1 * c1 + ... + Gn * cn`
///
/// with n fields, Gj the product of the fields from number j on (so Gn is 1), and cj the sum of the
/// biases that follow the first j fields. Exact, because intermediate results are not clamped.
package struct NormalForm: Sendable {
  /// M, with c0 as its bias.
  package private(set) var matrix = ColorMatrix.identity
  /// The fields, first to last.
  package private(set) var fields: [ScalarField] = []
  /// c1 ... cn: red, green, blue.
  package private(set) var biases: [SIMD4<Double>] = []

  /// Creates the normal form of a chain.
  ///
  /// - Returns: `nil` if an operation isn't a field, or a matrix that leaves alpha unchanged and
  ///   does not read it.
  package init?(_ operations: [PointOperation], isOpaque: Bool) {
    for operation in operations {
      switch operation {
      case .matrix(let matrix):
        let matrix = isOpaque ? matrix.opaque : matrix
        guard matrix.keepsAlpha, !matrix.readsAlpha else { return nil }
        self.append(matrix)
      case .field(let field):
        self.fields.append(field)
        self.biases.append(.zero)
      case .kernel, .transfer, .adaptive, .source, .group, .blend:
        return nil
      }
    }
  }

  private mutating func append(_ matrix: ColorMatrix) {
    // Earlier biases are transformed too; this matrix's bias belongs to the latest group.
    var linear = matrix
    linear.bias = .zero
    let bias = self.biases.isEmpty ? SIMD4<Double>.zero : matrix.bias
    self.matrix = self.matrix.followed(by: self.biases.isEmpty ? matrix : linear)
    for index in self.biases.indices { self.biases[index] = linear(self.biases[index]) }
    if let last = self.biases.indices.last { self.biases[last] += bias }
  }
}
