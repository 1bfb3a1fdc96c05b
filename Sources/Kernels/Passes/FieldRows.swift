import CKernels

/// The rows of factors of a chain in normal form: products of fields, in 1/16384.
@safe
struct FieldRows: Sendable {
  private let fields: [PlannedField]
  /// Which products are needed besides the first: j stands for the product of the fields from j on.
  private let products: [Int]

  /// - Returns: `nil` if the products may leave what 1/16384 in 16 bits can hold.
  init?(_ fields: [PlannedField], products: [Int]) {
    var bound: Float = 1
    for field in fields.reversed() {
      bound *= field.maximum
      guard field.maximum < 1.99, bound < 1.99 else { return nil }
    }
    self.fields = fields
    self.products = products
  }

  /// How many rows ``fill(_:y:width:moment:rows:)`` writes.
  var count: Int { self.fields.isEmpty ? 0 : 1 + self.products.count }

  /// Writes the first product's row, and then those of the others, `width` apart.
  func fill(
    _ out: UnsafeMutablePointer<Int16>, y: Int, width: Int, moment: FrameMoment, rows: sl_rows
  ) {
    let starts = [0] + self.products
    for (index, start) in starts.enumerated() {
      let row = unsafe out + index * width
      for (offset, field) in self.fields[start...].enumerated() {
        unsafe field.fillFixed(
          row, y: y, width: width, moment: moment, multiplies: offset > 0, rows)
      }
    }
  }
}
