/// One pass over the picture: reads rasters, writes another.
package protocol Pass: Sendable {
  /// What the pass does, for people.
  var description: PassDescription { get }

  /// Whether the output may be the very memory of an input: each sample is written only after
  /// everything was read that depends on it, by this band and by all others. By default it may not.
  var worksInPlace: Bool { get }

  /// Computes every sample of the context's output, and writes nothing else: neither padding between
  /// rows nor anything beyond the last.
  func run(_ context: PassContext) async throws
}

extension Pass {
  package var worksInPlace: Bool { false }
}

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

/// Stands around each pass of a frame: to measure it, to trace it, or to stop before it.
public protocol PassObserver: Sendable {
  /// Called once a pass, in order. Call `body` exactly once and return what it returns; or throw,
  /// and the frame ends with that error.
  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result
}

/// Looks on and does nothing.
public struct NoPassObserver: PassObserver {
  /// Observes nothing.
  public init() {}

  /// Runs the pass.
  public func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    try await body()
  }
}

// The pointwise passes: what they write to a place depends on that place alone, and they read it
// first. Where 2x2 pixels share their chroma, the band that writes them is the only one to read them,
// and reads all of them before.

extension FoldedPixelsPass {
  package var worksInPlace: Bool { true }
}

extension FoldedPlanesPass {
  package var worksInPlace: Bool { true }
}

extension StripPass {
  package var worksInPlace: Bool { true }
}
