/// Scratch rows of 16-bit samples, owned by one band.
@safe
package struct SampleMemory: ~Copyable {
  private let samples: UnsafeMutablePointer<Int16>

  /// Allocates samples, initialised to 0.
  ///
  /// - Parameter count: The number of samples.
  package init(count: Int) {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count * 2, alignment: 64)
    unsafe self.samples = bytes.initializeMemory(as: Int16.self, repeating: 0, count: count)
  }

  deinit {
    unsafe self.samples.deallocate()
  }

  package subscript(offset: Int) -> UnsafeMutablePointer<Int16> { unsafe self.samples + offset }
}

/// Scratch rows of floats, owned by one band.
@safe
package struct FloatMemory: ~Copyable {
  private let floats: UnsafeMutablePointer<Float>

  /// Allocates floats, initialised to 0.
  ///
  /// - Parameter count: The number of floats.
  package init(count: Int) {
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: max(count, 1) * MemoryLayout<Float>.stride, alignment: 64)
    unsafe self.floats = bytes.initializeMemory(as: Float.self, repeating: 0, count: count)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  package subscript(offset: Int) -> UnsafeMutablePointer<Float> { unsafe self.floats + offset }
}

/// Constant numbers at a constant address. Many threads read them row by row and would contend for
/// the reference count of an array.
@safe
package final class FloatTable: @unchecked Sendable {  // written by its initialiser only
  /// The number of numbers.
  package let count: Int
  /// The first number; valid while the table lives.
  package let start: UnsafePointer<Float>

  package init(_ values: [Float]) {
    self.count = values.count
    let floats = UnsafeMutablePointer<Float>.allocate(capacity: max(values.count, 1))
    _ = unsafe UnsafeMutableBufferPointer(start: floats, count: values.count)
      .initialize(from: values)
    unsafe self.start = UnsafePointer(floats)
  }

  deinit {
    unsafe self.start.deallocate()
  }

  package subscript(index: Int) -> Float {
    precondition((0 ..< self.count).contains(index), "the table has \(self.count) numbers")
    return unsafe self.start[index]
  }
}
