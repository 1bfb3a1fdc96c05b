/// Numbers that never change, at an address that never does: many threads read them row by row, and
/// would contend for the reference count of an array.
@safe
package final class FloatTable: @unchecked Sendable {  // written by its initialiser only
  /// How many numbers there are.
  package let count: Int
  /// The first one; valid while the table lives.
  let start: UnsafePointer<Float>

  init(_ values: [Float]) {
    self.count = values.count
    let floats = UnsafeMutablePointer<Float>.allocate(capacity: max(values.count, 1))
    _ = unsafe UnsafeMutableBufferPointer(start: floats, count: values.count)
      .initialize(from: values)
    unsafe self.start = UnsafePointer(floats)
  }

  deinit {
    unsafe self.start.deallocate()
  }

  /// The number at an index.
  package subscript(index: Int) -> Float {
    precondition((0 ..< self.count).contains(index), "the table has \(self.count) numbers")
    return unsafe self.start[index]
  }
}
