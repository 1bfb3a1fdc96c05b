import Synchronization

/// The memory of a plan that is being compiled. When the limit is exceeded, allocation stops and
/// the plan is refused. Used by one thread, for one plan.
package final class PlanBudget {
  /// The maximum size of the plan in bytes.
  let limit: Int
  /// The bytes so far.
  private(set) var spent = 0

  init(limit: Int = .max) {
    self.limit = limit
  }

  var isExceeded: Bool { self.spent > self.limit }

  /// Counts allocated bytes.
  func spend(_ byteCount: Int) {
    self.spent += byteCount
  }

  /// Samples a field.
  ///
  /// - Returns: `nil` if the limit is exceeded already.
  func plan(_ field: ScalarField, size: FrameSize) -> PlannedField? {
    guard !self.isExceeded else { return nil }
    let planned = PlannedField(field, size: size)
    self.spend(planned.byteCost)
    return planned
  }

  /// Releases the bytes of sampled fields that are not needed.
  func release(_ fields: [PlannedField]) {
    self.spent -= fields.reduce(0) { $0 + $1.byteCost }
  }
}

/// A limit of the memory of all plans of a cache: its kept plans, and evicted plans that are still
/// in use.
final class PlanMemoryLimit: Sendable {
  /// The bytes of one plan, which are released with the last reference to the plan.
  final class Reservation: Sendable {
    private let memoryLimit: PlanMemoryLimit
    private let byteCount: Int

    fileprivate init(_ memoryLimit: PlanMemoryLimit, _ byteCount: Int) {
      self.memoryLimit = memoryLimit
      self.byteCount = byteCount
    }

    deinit {
      self.memoryLimit.reservedBytes.withLock { $0 -= self.byteCount }
    }
  }

  private let limit: Int
  private let reservedBytes = Mutex(0)

  init(limit: Int) {
    self.limit = limit
  }

  /// The bytes that are not reserved.
  var remainingBytes: Int { self.reservedBytes.withLock { max(0, self.limit - $0) } }

  /// Reserves bytes.
  ///
  /// - Returns: `nil` if fewer bytes remain.
  func reserve(_ byteCount: Int) -> Reservation? {
    let isReserved = self.reservedBytes.withLock { reservedBytes in
      guard byteCount <= self.limit - reservedBytes else { return false }
      reservedBytes += byteCount
      return true
    }
    return isReserved ? Reservation(self, byteCount) : nil
  }
}
