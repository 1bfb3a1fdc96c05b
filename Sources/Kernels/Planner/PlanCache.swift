import Synchronization

/// Keeps plans by pipeline and geometry, so that each is made once.
///
/// Bounded by how many there are and by what they hold in memory (``Plan/byteCost``); when it is
/// full, the plans that were asked for longest ago go. What one plan may hold, and what all do that
/// anybody still uses, is bounded too: a plan beyond is refused (``Plan/refusal``).
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

  /// Plans that hold less than this do not count among all: there are never so many that it mattered,
  /// and what others hold should not refuse them.
  private static let smallBytes = 64 << 10

  private let capacity: Int
  private let maxBytes: Int
  private let maxPlanBytes: Int
  private let allowance: PlanAllowance
  private let state = Mutex(State())

  /// - Parameters:
  ///   - capacity: The most plans to keep; at least 1, by default 64.
  ///   - maxBytes: The most that the plans that are kept may hold together, by default 256 MiB. A plan
  ///     that alone holds more is made each time that it is asked for.
  ///   - maxPlanBytes: The most that a plan may hold; by default any amount.
  ///   - maxLiveBytes: The most that plans may hold which are kept here or used by anybody, those of
  ///     less than 64 KiB not counted; by default any amount.
  public init(
    capacity: Int = 64, maxBytes: Int = 256 << 20, maxPlanBytes: Int = .max,
    maxLiveBytes: Int = .max
  ) {
    self.capacity = max(1, capacity)
    self.maxBytes = max(0, maxBytes)
    self.maxPlanBytes = maxPlanBytes
    self.allowance = PlanAllowance(limit: maxLiveBytes)
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
    let made = pipeline.plan(for: geometry, as: encoding, maxBytes: self.maxPlanBytes)
    let plan = self.sharing(made)
    // What others have left now may be more the next time.
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

  /// A plan with its share of what all may hold. Plans that are only kept make room for it.
  private func sharing(_ plan: Plan) -> Plan {
    guard plan.byteCost >= Self.smallBytes else { return plan }
    while true {
      if let share = self.allowance.take(plan.byteCost) { return plan.holding(share) }
      let isRoomMade = self.state.withLock { Self.removeOldest(&$0) }
      guard isRoomMade else { break }
    }
    return Plan(
      input: plan.input, output: plan.output,
      refused: PlanRefusal(
        byteCount: plan.byteCost, limit: self.allowance.rest, isShared: true))
  }

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
