import SidelightKernels

/// A pipeline in force, and the number of its revision.
///
/// Each frame keeps the selection that was in force when it arrived, so no output mixes two.
package struct ActivePipeline: Sendable {
  /// What is done to the frame.
  package var pipeline: ResolvedPipeline
  /// Under which number.
  package var revision: Revision
  /// Whether an operator forced it. Then a frame that cannot be filtered is not shown as it came.
  package var isOverride: Bool

  package init(pipeline: ResolvedPipeline, revision: Revision, isOverride: Bool = false) {
    self.pipeline = pipeline
    self.revision = revision
    self.isOverride = isOverride
  }
}
