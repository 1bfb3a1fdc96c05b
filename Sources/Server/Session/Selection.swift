import SidelightKernels

/// A pipeline in force, and the number of its revision.
///
/// Each frame keeps the selection that was in force when it arrived, so no output mixes two.
struct Selection: Sendable {
  let pipeline: ResolvedPipeline
  let revision: Revision
}
