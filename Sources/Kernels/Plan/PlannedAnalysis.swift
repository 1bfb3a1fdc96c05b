/// An analysis in its place in a pipeline.
public struct PlannedAnalysis: Sendable {
  /// The id of the stage that asks for it, or else its place: `stages[1]`,
  /// `stages[1].pipeline.stages[0]`.
  public let stage: String
  /// The filter's name.
  public let filter: String
  /// How often to look: 1 is every frame.
  public let everyNth: Int
  /// What looks.
  public let analysis: any FrameAnalysis

  package init(stage: String, filter: String, analysis: any FrameAnalysis) {
    self.stage = stage
    self.filter = filter
    self.everyNth = max(1, analysis.everyNth)
    self.analysis = analysis
  }
}
