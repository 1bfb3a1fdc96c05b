package import SidelightKernels

/// Says which analyses look at which frame: each at every nth of those that it could see.
package struct AnalysisSchedule: Sendable {
  /// Frames since the last look, by stage.
  private var waited: [String: Int] = [:]

  package init() {}

  /// A frame comes.
  ///
  /// - Parameters:
  ///   - analyses: Those of the pipeline in force.
  ///   - isReduced: Whether time is short: then they look half as often.
  /// - Returns: Those that look at the frame.
  package mutating func due(
    among analyses: [PlannedAnalysis], isReduced: Bool
  ) -> [PlannedAnalysis] {
    // Of stages that are gone nothing needs to be known.
    if self.waited.count > analyses.count {
      let stages = Set(analyses.map(\.stage))
      self.waited = self.waited.filter { stages.contains($0.key) }
    }
    return analyses.filter { analysis in
      let every = analysis.everyNth * (isReduced ? 2 : 1)
      let waited = (self.waited[analysis.stage] ?? every - 1) + 1
      self.waited[analysis.stage] = waited >= every ? 0 : waited
      return waited >= every
    }
  }

  /// Analyses that were due did not look: they are due at the next frame.
  package mutating func postpone(_ analyses: [PlannedAnalysis]) {
    for analysis in analyses { self.waited[analysis.stage] = nil }
  }
}
