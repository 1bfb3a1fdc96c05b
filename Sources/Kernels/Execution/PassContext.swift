/// What a pass works with while it runs on one frame.
package struct PassContext: Sendable {
  /// What the pass reads, in the order that its plan says.
  package let inputs: [Raster]
  /// What the pass writes.
  package let output: Raster
  /// Which frame of the stream this is.
  package let moment: FrameMoment
  /// Where scratch buffers come from.
  package let pool: BufferPool
  /// Splits rows over threads.
  package let bands: BandRunner
}
