import Synchronization

/// Keeps plans by pipeline and geometry, so that each is made once.
///
/// Bounded; when it is full, the plan that was asked for longest ago goes.
public final class PlanCache: Sendable {
  private struct Key: Hashable {
    let pipeline: ResolvedPipeline
    let geometry: FrameGeometry
    let encoding: FrameEncoding?
  }

  private struct State {
    var plans: [Key: (plan: Plan, used: UInt64)] = [:]
    var clock: UInt64 = 0
  }

  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: The most plans to keep; at least 1, by default 64.
  public init(capacity: Int = 64) {
    self.capacity = max(1, capacity)
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
    self.state.withLock { state in
      if state.plans.count >= self.capacity,
        let oldest = state.plans.min(by: { $0.value.used < $1.value.used })
      {
        state.plans[oldest.key] = nil
      }
      state.clock += 1
      state.plans[key] = (plan, state.clock)
    }
    return plan
  }

  private static func find(_ key: Key, _ state: inout State) -> Plan? {
    guard let plan = state.plans[key]?.plan else { return nil }
    state.clock += 1
    state.plans[key]?.used = state.clock
    return plan
  }
}
