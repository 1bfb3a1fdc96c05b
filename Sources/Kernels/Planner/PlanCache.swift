import Synchronization

/// A cache of plans by pipeline and geometry.
///
/// It is bounded by the number of plans and by their memory (``Plan/byteCost``); when it is full,
/// it evicts the least recently used plans. The memory of one plan, and of all plans that are still
/// in use, is bounded too: a plan beyond the limit is refused (``Plan/refusal``).
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

  /// Smaller plans do not count towards the memory of all plans: their number is small, and the
  /// memory of others must not refuse them.
  package static let smallPlanBytes = 64 << 10

  private let capacity: Int
  private let maxBytes: Int
  private let maxPlanBytes: Int
  private let memoryLimit: PlanMemoryLimit
  private let state = Mutex(State())

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - capacity: The maximum number of plans to keep; at least 1, by default 64.
  ///   - maxBytes: The maximum memory of the kept plans, by default 256 MiB. A larger plan is
  ///     compiled on every request.
  ///   - maxPlanBytes: The maximum memory of one plan; unlimited by default.
  ///   - maxLiveBytes: The maximum memory of all plans that are kept or in use, without plans of
  ///     less than 64 KiB; by default unlimited.
  public init(
    capacity: Int = 64, maxBytes: Int = 256 << 20, maxPlanBytes: Int = .max,
    maxLiveBytes: Int = .max
  ) {
    self.capacity = max(1, capacity)
    self.maxBytes = max(0, maxBytes)
    self.maxPlanBytes = maxPlanBytes
    self.memoryLimit = PlanMemoryLimit(limit: maxLiveBytes)
  }

  /// The number of kept plans, and their memory in bytes.
  public var contents: (plans: Int, bytes: Int) {
    self.state.withLock { ($0.plans.count, $0.byteCost) }
  }

  /// Returns the plan of a pipeline for a geometry, compiling it if it isn't in the cache.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline.
  ///   - geometry: The geometry of the frames.
  ///   - encoding: The encoding of results; by default the input's encoding.
  public func plan(
    for pipeline: ResolvedPipeline, _ geometry: FrameGeometry, as encoding: FrameEncoding? = nil
  ) -> Plan {
    let key = Key(pipeline: pipeline, geometry: geometry, encoding: encoding)
    if let plan = self.state.withLock({ Self.find(key, &$0) }) { return plan }
    // Outside the lock: two threads may compile the same plan, without waiting for each other.
    let compiled = pipeline.plan(for: geometry, as: encoding, maxBytes: self.maxPlanBytes)
    let plan = self.reserving(compiled)
    // The memory of other plans may be released before the next request.
    guard plan.byteCost <= self.maxBytes, plan.refusal?.isShared != true else { return plan }
    self.state.withLock { state in
      Self.remove(key, &state)
      while state.plans.count >= self.capacity
        || state.byteCost + plan.byteCost > self.maxBytes, Self.removeOldest(&state)
      {}
      state.clock += 1
      state.plans[key] = (plan, state.clock)
      state.byteCost += plan.byteCost
    }
    return plan
  }

  /// Evicts the plans that use an asset for which the condition holds.
  package func removePlans(usingAssetWhere condition: (Asset) -> Bool) {
    // The plans' memory is freed outside the lock.
    var removed: [Plan] = []
    self.state.withLock { state in
      for (key, entry) in state.plans where key.pipeline.usesAsset(where: condition) {
        removed.append(entry.plan)
        Self.remove(key, &state)
      }
    }
  }

  /// Returns a plan with its reservation of the memory of all plans. Evicts plans until the
  /// reservation succeeds; refuses the plan if it cannot.
  private func reserving(_ plan: Plan) -> Plan {
    guard plan.byteCost >= Self.smallPlanBytes else { return plan }
    while true {
      if let reservation = self.memoryLimit.reserve(plan.byteCost) {
        return plan.holding(reservation)
      }
      let didEvict = self.state.withLock { Self.removeOldest(&$0) }
      guard didEvict else { break }
    }
    return Plan(
      input: plan.input, output: plan.output,
      refused: PlanRefusal(
        byteCount: plan.byteCost, limit: self.memoryLimit.remainingBytes, isShared: true))
  }

  /// Evicts the least recently used plan.
  ///
  /// - Returns: Whether there was one.
  private static func removeOldest(_ state: inout State) -> Bool {
    guard let oldest = state.plans.min(by: { $0.value.used < $1.value.used }) else { return false }
    Self.remove(oldest.key, &state)
    return true
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
