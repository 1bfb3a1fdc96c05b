import GRPCCore
import SidelightKernels
package import SidelightWire
import SwiftProtobuf

extension PipelineState {
  /// What a token holds.
  ///
  /// - Parameters:
  ///   - lineage: The session's.
  ///   - now: The time on the session's clock.
  ///   - wallNow: The same moment, in nanoseconds since 1970.
  ///   - lifetime: How long the token is good.
  package func resumeState(
    of lineage: SessionLineage, at now: Duration, wallNow: UInt64, lifetime: Duration
  ) -> Sidelight_V1_ResumeState {
    func wall(_ time: Duration) -> Int64 {
      Int64(clamping: wallNow) &+ (time - now).wireNanoseconds
    }
    return .with {
      $0.expiresNs = wall(now + lifetime)
      $0.pipeline = Sidelight_V1_Pipeline(self.pipeline)
      $0.revision = self.revision
      $0.lineage = lineage.bytes
      $0.pause =
        switch self.pause {
        case .running: .running
        case .dropping: .dropping
        case .passing: .passing
        }
      if let override = self.override {
        $0.override = Sidelight_V1_Pipeline(override.pipeline)
        $0.overrideExpiresNs = wall(override.end)
        $0.overrideReason = override.reason
      }
    }
  }

  /// Restores what a token holds. An override whose time is over is not restored.
  ///
  /// - Throws: ``FieldFault`` if this server's catalogue cannot make the pipeline.
  package init(
    resuming state: Sidelight_V1_ResumeState, at now: Duration, wallNow: UInt64,
    catalogue: FilterCatalogue, overrideCatalogue: FilterCatalogue? = nil
  ) throws(FieldFault) {
    do {
      try self.init(
        pipeline: try Pipeline(state.pipeline), revision: state.revision, catalogue: catalogue,
        overrideCatalogue: overrideCatalogue)
      let left = state.overrideExpiresNs - Int64(clamping: wallNow)
      // The number was the override's, which is over.
      if state.hasOverride, left <= 0 { self.countChange() }
      if state.hasOverride, left > 0 {
        try self.override(
          with: try Pipeline(state.override), reason: state.overrideReason,
          until: now + .nanoseconds(left))
      }
    } catch let error as PipelineError {
      throw FieldFault(error).within("open.resume_token.pipeline")
    } catch let error as FieldFault {
      throw error.within("open.resume_token.pipeline")
    } catch {
      throw FieldFault(code: .internalError, field: "open.resume_token", reason: "\(error)")
    }
    switch state.pause {
    case .dropping: _ = self.setPause(.dropping)
    case .passing: _ = self.setPause(.passing)
    case .running, .unspecified, .UNRECOGNIZED: break
    }
  }
}

extension Duration {
  /// Whole nanoseconds, as the wire counts moments; at most some 292 years either way.
  fileprivate var wireNanoseconds: Int64 {
    let (seconds, attoseconds) = self.components
    let (nanoseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isOverflow else { return seconds < 0 ? .min : .max }
    return nanoseconds &+ attoseconds / 1_000_000_000
  }
}
