import Synchronization

/// Counts what a plan in the making holds in memory, and says when that is too much: then nothing more is
/// allocated for it, and it comes to nothing. Used by one thread, for one plan.
package final class PlanBudget {
  /// The most bytes that the plan may hold.
  let limit: Int
  /// What it holds so far.
  private(set) var spent = 0

  init(limit: Int = .max) {
    self.limit = limit
  }

  /// Whether the plan holds too much.
  var isExceeded: Bool { self.spent > self.limit }

  /// Something was allocated.
  func spend(_ byteCount: Int) {
    self.spent += byteCount
  }

  /// Samples a field.
  ///
  /// - Returns: `nil` if the plan comes to nothing anyway.
  func plan(_ field: ScalarField, size: FrameSize) -> PlannedField? {
    guard !self.isExceeded else { return nil }
    let planned = PlannedField(field, size: size)
    self.spend(planned.byteCost)
    return planned
  }

  /// Fields that were sampled are not needed after all.
  func giveBack(_ fields: [PlannedField]) {
    self.spent -= fields.reduce(0) { $0 + $1.byteCost }
  }
}

/// Bounds what all plans of a cache hold in memory together: those that it keeps, and those that it does
/// not keep any more but somebody still uses.
final class PlanAllowance: Sendable {
  /// A plan's part, given back when nobody refers to the plan any more.
  final class Share: Sendable {
    private let allowance: PlanAllowance
    private let byteCount: Int

    fileprivate init(_ allowance: PlanAllowance, _ byteCount: Int) {
      self.allowance = allowance
      self.byteCount = byteCount
    }

    deinit {
      self.allowance.taken.withLock { $0 -= self.byteCount }
    }
  }

  private let limit: Int
  private let taken = Mutex(0)

  init(limit: Int) {
    self.limit = limit
  }

  /// What is left, in bytes.
  var rest: Int { self.taken.withLock { max(0, self.limit - $0) } }

  /// Takes a part.
  ///
  /// - Returns: `nil` if not as much is left.
  func take(_ byteCount: Int) -> Share? {
    let isThere = self.taken.withLock { taken in
      guard byteCount <= self.limit - taken else { return false }
      taken += byteCount
      return true
    }
    return isThere ? Share(self, byteCount) : nil
  }
}
