package import SidelightKernels

/// A pipeline and the revision under which it is active.
///
/// Frames keep the pipeline that was active when they arrived, so a result never mixes two without
/// a transition.
package struct ActivePipeline: Sendable {
  package var pipeline: ResolvedPipeline
  package var revision: Revision
  /// Whether an operator forced it. A frame that cannot be filtered then never comes back
  /// unfiltered.
  package var isOverride: Bool
  /// The frame's position in a transition to the pipeline, or `nil` outside of transitions.
  package var transition: TransitionMoment?

  package init(pipeline: ResolvedPipeline, revision: Revision, isOverride: Bool = false) {
    self.pipeline = pipeline
    self.revision = revision
    self.isOverride = isOverride
  }
}

/// The number of an active pipeline, and the message that requested it.
package struct Revision: Sendable, Hashable {
  /// The number, which counts up from 1 with each change.
  package var number: UInt64
  /// The message's number, or 0 for `open` and for overrides.
  package var requestID: UInt64

  package init(number: UInt64, requestID: UInt64) {
    self.number = number
    self.requestID = requestID
  }
}
