import Synchronization

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
