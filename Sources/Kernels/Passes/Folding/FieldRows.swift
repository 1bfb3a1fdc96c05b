import CKernels

/// The rows of factors of a chain in normal form: products of fields, in 1/16384.
@safe
final class FieldRows: @unchecked Sendable {  // the buffers are written once, in init
  private let fields: [PlannedField]
  private let views: UnsafeMutableBufferPointer<FieldView>
  /// Where each product starts: j stands for the product of the fields from j on.
  private let starts: UnsafeMutableBufferPointer<Int>

  /// How many rows ``fill(_:y:width:moment:rows:)`` writes.
  let count: Int

  /// - Parameter products: Which products are needed besides that of all fields.
  /// - Returns: `nil` if the products may leave what 1/16384 in 16 bits can hold.
  private init?(_ fields: [PlannedField], products: [Int]) {
    var bound: Float = 1
    for field in fields {
      // Products begin at any field and grow one by one: none is greater than this one.
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

  /// Samples fields for a frame's size, and keeps their rows.
  ///
  /// - Returns: `nil` as ``init(_:products:)``, or if the plan comes to nothing anyway.
  static func sampling(
    _ fields: [ScalarField], products: [Int], size: FrameSize, budget: PlanBudget
  ) -> FieldRows? {
    let planned = fields.compactMap { budget.plan($0, size: size) }
    if planned.count == fields.count, let rows = FieldRows(planned, products: products) {
      return rows
    }
    // The strips that serve instead sample them anew, if there is a plan at all.
    if !budget.isExceeded { budget.giveBack(planned) }
    return nil
  }

  deinit {
    unsafe self.views.deallocate()
    unsafe self.starts.deallocate()
  }

  /// Writes the first product's row, and then those of the others, `width` apart.
  func fill(
    _ out: UnsafeMutablePointer<Int16>, y: Int, width: Int, moment: FrameMoment,
    rows: sl_rows
  ) {
    for index in 0 ..< self.count {
      let row = unsafe out + index * width
      let start = unsafe self.starts[index]
      for field in unsafe start ..< self.views.count {
        unsafe self.views[field].fillFixed(
          row, y: y, width: width, moment: moment, multiplies: field > start, rows)
      }
    }
  }
}
