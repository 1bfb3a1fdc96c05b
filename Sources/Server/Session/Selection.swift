import SidelightKernels
import Synchronization

/// A pipeline in force: what was wished, what it resolved to, and its plans for the frames seen so far.
///
/// Each frame keeps the selection that was in force when it arrived, so no output mixes two.
final class Selection: Sendable {
  let revision: Revision
  private let resolved: ResolvedPipeline
  private let plans = Mutex<[FrameGeometry: Plan]>([:])

  /// Geometries whose plans are kept. Calls change size now and then; they do not alternate among many.
  private static let planLimit = 8

  init(_ resolved: ResolvedPipeline, revision: Revision) {
    self.resolved = resolved
    self.revision = revision
  }

  /// The plan for frames of a geometry; compiled at the first of them.
  func plan(for geometry: FrameGeometry) -> Plan {
    if let plan = self.plans.withLock({ $0[geometry] }) { return plan }
    let plan = self.resolved.plan(for: geometry)
    self.plans.withLock { plans in
      if plans.count >= Self.planLimit { plans.removeAll() }
      plans[geometry] = plan
    }
    return plan
  }
}
