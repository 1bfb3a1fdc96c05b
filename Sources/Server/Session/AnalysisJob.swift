import SidelightKernels

/// A frame that analyses are to look at.
struct AnalysisJob: Sendable {
  let frame: IncomingFrame
  let analyses: [PlannedAnalysis]
}
