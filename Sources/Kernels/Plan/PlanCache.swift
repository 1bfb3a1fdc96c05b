import Synchronization

/// Keeps plans by pipeline and geometry, so that each is made once.
///
/// Bounded by how many there are and by what they cost in memory (``Plan/byteCost``); when it is
/// full, the plans that were asked for longest ago go.
public final class PlanCache: Sendable {
  private struct Key: Hashable {
    let pipeline: ResolvedPipeline
    let geometry: FrameGeometry
    let encoding: FrameEncoding?
  }

  private struct State {
    var plans: [Key: (plan: Plan, used: UInt64)] = [:]
    var byteCost = 0
    var clock: UInt64 = 0
  }

  private let capacity: Int
  private let maxBytes: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - capacity: The most plans to keep; at least 1, by default 64.
  ///   - maxBytes: The most that the plans may cost together, by default 256 MiB. A plan that alone
  ///     costs more is made each time that it is asked for.
  public init(capacity: Int = 64, maxBytes: Int = 256 << 20) {
    self.capacity = max(1, capacity)
    self.maxBytes = max(0, maxBytes)
  }

  /// How many plans are kept, and what they cost in bytes.
  public var contents: (plans: Int, bytes: Int) {
    self.state.withLock { ($0.plans.count, $0.byteCost) }
  }

  /// The plan of a pipeline for a geometry, made now if it is not there.
  ///
  /// - Parameter encoding: What results are to be encoded as; by default like what goes in.
  public func plan(
    for pipeline: ResolvedPipeline, _ geometry: FrameGeometry, as encoding: FrameEncoding? = nil
  ) -> Plan {
    let key = Key(pipeline: pipeline, geometry: geometry, encoding: encoding)
    if let plan = self.state.withLock({ Self.find(key, &$0) }) { return plan }
    // Outside the lock: two threads may make the same plan, and neither waits.
    let plan = pipeline.plan(for: geometry, as: encoding)
    guard plan.byteCost <= self.maxBytes else { return plan }
    self.state.withLock { state in
      Self.remove(key, &state)
      while state.plans.count >= self.capacity
        || state.byteCost + plan.byteCost > self.maxBytes,
        let oldest = state.plans.min(by: { $0.value.used < $1.value.used })
      {
        Self.remove(oldest.key, &state)
      }
      state.clock += 1
      state.plans[key] = (plan, state.clock)
      state.byteCost += plan.byteCost
    }
    return plan
  }

  /// Lets the plans go that use an asset that the condition holds for.
  package func removePlans(usingAssetWhere condition: (Asset) -> Bool) {
    // What they hold is freed outside the lock.
    var removed: [Plan] = []
    self.state.withLock { state in
      for (key, entry) in state.plans where key.pipeline.usesAsset(where: condition) {
        removed.append(entry.plan)
        Self.remove(key, &state)
      }
    }
  }

  private static func remove(_ key: Key, _ state: inout State) {
    guard let entry = state.plans.removeValue(forKey: key) else { return }
    state.byteCost -= entry.plan.byteCost
  }

  private static func find(_ key: Key, _ state: inout State) -> Plan? {
    guard let plan = state.plans[key]?.plan else { return nil }
    state.clock += 1
    state.plans[key]?.used = state.clock
    return plan
  }
}
