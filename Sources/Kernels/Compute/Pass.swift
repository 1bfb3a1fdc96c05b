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

/// A pass that another process computes, in memory that it shares with this one.
package protocol RemotePass: Pass {
  /// Returns memory for the input, which the pass before then writes; `nil` for any memory.
  func makeInput(_ layout: FrameLayout, scene: FrameScene?) -> Raster?

  /// Computes the pass. The context's output is the input, and is not written.
  ///
  /// - Parameter ownsInput: Whether no other pass reads the input: the other process may change it.
  /// - Returns: Samples that the other process can still change.
  func result(
    _ context: PassContext, _ layout: FrameLayout, ownsInput: Bool
  ) async throws -> Raster

  /// Counts a copy of the result.
  func countCopy()
}

extension RemotePass {
  package func run(_ context: PassContext) async throws {
    preconditionFailure("a remote pass returns its result")
  }
}

/// The recorder of figures about the present pass, such as the time in another process, for its
/// span.
package enum PassFigures {
  @TaskLocal package static var record: (@Sendable (_ name: String, _ value: Int) -> Void)?
}

/// The frame's deadline passed during a pass.
package struct PassDeadlineError: Error, CustomStringConvertible {
  package let description = "the frame's deadline has passed"

  package init() {}
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
  /// The frame's deadline (``PassObserver/deadline``).
  package var deadline: Duration? = nil

  /// Returns the context of a part of the pass, with other rasters.
  package func replacing(inputs: [Raster], output: Raster) -> PassContext {
    PassContext(
      inputs: inputs, output: output, time: self.time, scene: self.scene,
      details: self.details, pool: self.pool, bands: self.bands, deadline: self.deadline)
  }

  package func copy(_ source: Raster, to target: Raster) async {
    for shape in PlaneShape.planes(source.format, source.size) {
      await PlaneCopy(shape: shape).run(self.replacing(inputs: [source], output: target))
    }
  }
}

/// An observer that encloses every pass of a frame: it can measure or trace a pass, or stop the
/// frame.
public protocol PassObserver: Sendable {
  /// The time at which the frame has no use any more, on the clock of ``FrameTime/arrival``. Passes
  /// that wait for another process end then. `nil`, the default, disables the limit.
  var deadline: Duration? { get }
  /// Called once per pass, in order. An implementation calls `body` exactly once and returns its
  /// result, or throws, which ends the frame with that error.
  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result
}

extension PassObserver {
  /// No limit.
  public var deadline: Duration? { nil }
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

/// The description of one pass over a frame, for traces, metrics and `sidelight check`.
public struct PassDescription: Sendable, Hashable {
  /// The kind of work.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Pixels depend on themselves only.
    case pointwise
    /// Pixels depend on a neighbourhood.
    case neighborhood
    /// Pixels are read from other positions.
    case warp
    /// Two pictures are combined.
    case composite
    /// A custom function of the whole frame.
    case frame
    /// Conversion between a file and a frame.
    case codec
    /// Work on a small copy of the frame that determines the drawings of later passes.
    case scene
  }

  /// The names of the pass's filters, joined by `+`, or the name of work on the scene. A pass that
  /// computes a part of a filter has the filter's name.
  public let name: String
  /// The filters that the pass computes, in order.
  public let filters: [String]
  /// The kind of work.
  public let kind: Kind
  /// The work in one line: `Gaussian of sigma 2.0, down and then across each plane`.
  public let summary: String

  /// Creates a description; its name joins the names of the filters.
  public init(filters: [String], kind: Kind, summary: String) {
    self.init(
      name: filters.joined(separator: "+"), filters: filters, kind: kind, summary: summary)
  }

  /// Creates a description of work that does not have the name of its filters.
  package init(name: String, filters: [String], kind: Kind, summary: String) {
    self.name = name
    self.filters = filters
    self.kind = kind
    self.summary = summary
  }
}

/// The drawings of a plan's scene stages for one frame.
public struct FrameScene: Sendable {
  /// The map from the pixels of the reduced picture to the pixels of the frame.
  package let frameMap: AffineMap
  private let drawings: [any Sendable]

  package init(frameMap: AffineMap, drawings: [any Sendable]) {
    self.frameMap = frameMap
    self.drawings = drawings
  }

  /// Returns the value of a stage's step; `nil` if it has another type or doesn't exist.
  package func drawing<Drawing: Sendable>(of index: Int, as type: Drawing.Type) -> Drawing? {
    self.drawings.indices.contains(index) ? self.drawings[index] as? Drawing : nil
  }
}
