/// An analysis in its place in a pipeline.
public struct PlannedAnalysis: Sendable {
  /// What an analyzer was made from: with another filter or other parameters it is another.
  package struct Identity: Sendable, Hashable {
    var filter: String
    var arguments: Arguments
  }

  /// The id of the stage that asks for it, or else its place: `stages[1]`,
  /// `stages[1].pipeline.stages[0]`.
  public let stage: String
  /// The filter's name.
  public let filter: String
  /// How often to look: 1 is every frame.
  public let everyNth: Int
  /// What looks.
  public let analysis: any FrameAnalysis
  package let identity: Identity

  package init(stage: String, identity: Identity, analysis: any FrameAnalysis) {
    self.stage = stage
    self.filter = identity.filter
    self.identity = identity
    self.everyNth = max(1, analysis.everyNth)
    self.analysis = analysis
  }
}
