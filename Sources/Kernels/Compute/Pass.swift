/// One pass over a picture: it reads rasters and writes another.
package protocol Pass: Sendable {
  /// The description for traces, metrics and `sidelight check`.
  var description: PassDescription { get }

  /// Whether the output may be the memory of an input. Bands then must not read an input sample
  /// after any band has written the output sample at its position. `false` by default.
  var worksInPlace: Bool { get }

  /// Whether the pass writes only a part of its output if the output is the memory of its input.
  /// The executor then gives it the same memory where it can. `false` by default.
  var drawsOnInput: Bool { get }
  /// The estimated time on one thread that kernels from text take for an output of a size; by
  /// default 0.
  func kernelNanoseconds(_ size: FrameSize) -> Double

  /// Computes every sample of the context's output. It must not write padding between rows or bytes
  /// after the last row.
  func run(_ context: PassContext) async throws
}

extension Pass {
  package var worksInPlace: Bool { false }
  package var drawsOnInput: Bool { false }
  package func kernelNanoseconds(_ size: FrameSize) -> Double { 0 }
}

/// The inputs and resources of a pass on one frame.
package struct PassContext: Sendable {
  /// The rasters that the pass reads, in the order of its plan.
  package let inputs: [Raster]
  /// The raster that the pass writes.
  package let output: Raster
  /// The frame's position in its stream.
  package let time: FrameTime
  /// The drawings of the plan's scene stages; `nil` if the plan has no scene stages, or runs
  /// without a scene.
  package let scene: FrameScene?
  /// The values of the frame that the pass can show.
  package let details: FrameDetails
  /// The pool of scratch buffers.
  package let pool: BufferPool
  /// Divides rows among threads.
  package let bands: BandRunner

  /// Returns the context of a part of the pass, with other rasters.
  package func replacing(inputs: [Raster], output: Raster) -> PassContext {
    PassContext(
      inputs: inputs, output: output, time: self.time, scene: self.scene,
      details: self.details, pool: self.pool, bands: self.bands)
  }
}

/// An observer that encloses every pass of a frame: it can measure or trace a pass, or stop the
/// frame.
public protocol PassObserver: Sendable {
  /// Called once per pass, in order. An implementation calls `body` exactly once and returns its
  /// result, or throws, which ends the frame with that error.
  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result
}

/// An observer that ignores every pass.
public struct NoPassObserver: PassObserver {
  /// Creates the observer.
  public init() {}

  /// Runs the pass.
  public func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    try await body()
  }
}
