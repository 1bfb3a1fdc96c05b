import SidelightKernels

/// A frame that analyses are to look at.
struct AnalysisJob: Sendable {
  let frame: IncomingFrame
  /// Its picture, where nobody writes any more.
  let picture: IncomingPicture
  /// Its samples, if it came as a file that the lane decodes.
  let samples: SharedSamples?
  /// Those whose turn it is.
  let analyses: [PlannedAnalysis]
  /// The stages of all that the pipeline has.
  let stages: [String]
}
