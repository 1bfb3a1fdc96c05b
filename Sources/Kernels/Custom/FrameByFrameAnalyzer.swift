/// Looks at each frame by itself.
struct FrameByFrameAnalyzer: FrameAnalyzer {
  let analysis: any FrameAnalysis

  func analyze(
    _ frame: Frame, at moment: FrameMoment
  ) async throws -> [String: AnalysisValue] {
    try await self.analysis.analyze(frame, at: moment)
  }
}
