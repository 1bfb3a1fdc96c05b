import CKernels

/// Sums of runs of samples, and their means. Owned by one band.
@safe
struct SampleSums: ~Copyable {
  private let memory: SampleMemory
  private let sums: UnsafeMutablePointer<Int32>
  private let count: Int

  /// - Parameter count: How many samples a run has at most.
  init(count: Int) {
    self.memory = SampleMemory(count: 3 * count)
    unsafe self.sums = UnsafeMutableRawPointer(self.memory[0])
      .bindMemory(to: Int32.self, capacity: count)
    self.count = count
  }

  /// Adds a run, or begins anew with it.
  func add(
    _ samples: UnsafePointer<Int16>, count: Int, isFirst: Bool, _ rows: sl_rows
  ) {
    if isFirst { unsafe self.sums.update(repeating: 0, count: count) }
    unsafe rows.accumulate_i16(samples, count, self.sums)
  }

  /// The sums' means, rounded.
  ///
  /// - Parameter runs: How many runs were added.
  func means(of runs: Int, count: Int) -> UnsafeMutablePointer<Int16> {
    let result = unsafe self.memory[2 * self.count]
    unsafe sl_rows_current().pointee.scale_sums(
      self.sums, 1 / Float(runs), count, result)
    return unsafe result
  }
}
