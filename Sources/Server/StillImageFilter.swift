package import SidelightCodecs
package import SidelightKernels
import SidelightWire

/// Filters stills with the very code that sessions run. `Apply` and the command line both come here,
/// so their bytes are the same.
package struct StillImageFilter: Sendable {
  private let catalogue: FilterCatalogue
  private let pool: BufferPool
  private let executor: PlanExecutor
  private let limits: ImageLimits
  private let observer: any PassObserver

  /// - Parameters:
  ///   - catalogue: The filters that pipelines may choose from.
  ///   - pool: Where buffers come from.
  ///   - executor: Where pixels are computed.
  ///   - limits: How large a picture may be.
  ///   - observer: Told of each pass.
  package init(
    catalogue: FilterCatalogue, pool: BufferPool, executor: PlanExecutor, limits: ImageLimits,
    observer: any PassObserver = NoPassObserver()
  ) {
    self.catalogue = catalogue
    self.pool = pool
    self.executor = executor
    self.limits = limits
    self.observer = observer
  }

  /// A still, and whether a filter changed it.
  package struct Outcome<Content: Sendable>: Sendable {
    package var content: Content
    package var isFiltered: Bool
  }

  /// Filters a picture that is in memory already.
  ///
  /// - Throws: ``PipelineError``, ``FieldFault`` if the pipeline makes too large a picture, or whatever
  ///   a custom filter throws.
  package func apply(_ pipeline: Pipeline, to frame: Frame) async throws -> Outcome<Frame> {
    let plan = try self.catalogue.resolve(pipeline).plan(for: frame.geometry)
    guard !plan.isIdentity else { return Outcome(content: frame, isFiltered: false) }
    try FrameLimits(maxDimension: self.limits.maxDimension, maxPixels: self.limits.maxPixels)
      .check(output: plan.output)
    let result = try await self.executor.run(plan, on: frame, observer: self.observer)
    return Outcome(content: result, isFiltered: true)
  }

  /// Filters a PNG or JPEG file. One that no filter changes, and whose kind stays, comes back byte by
  /// byte.
  ///
  /// - Parameter target: The kind of file to write.
  /// - Throws: ``PipelineError``, ``CodecError``, or whatever a custom filter throws.
  package func apply(
    _ pipeline: Pipeline, toFile file: [UInt8], writing target: ImageEncoder.Target
  ) async throws -> Outcome<[UInt8]> {
    let frame = try ImageDecoder(pool: self.pool, limits: self.limits).decode(file)
    let outcome = try await self.apply(pipeline, to: frame)
    guard outcome.isFiltered || Self.format(of: file) != target.format else {
      return Outcome(content: file, isFiltered: false)
    }
    return Outcome(
      content: try ImageEncoder(target).encode(outcome.content), isFiltered: outcome.isFiltered)
  }

  /// Encodes a picture as a file. Files are written without an orientation, so a picture that is to be
  /// shown mirrored or turned is mirrored and turned.
  ///
  /// - Throws: ``CodecError``.
  package func encode(_ frame: Frame, as target: ImageEncoder.Target) async throws -> [UInt8] {
    guard frame.orientation != .upright else { return try ImageEncoder(target).encode(frame) }
    let turn: Pipeline = [
      .filter(
        "orient",
        [
          "quarterTurns": .number(Double(frame.orientation.quarterTurns)),
          "mirrored": .flag(frame.orientation.isMirrored),
        ])
    ]
    // Not the server's own catalogue, which may hold another filter of that name.
    let plan = try FilterCatalogue.builtIn.resolve(turn).plan(for: frame.geometry)
    return try ImageEncoder(target).encode(try await self.executor.run(plan, on: frame))
  }

  private static func format(of file: [UInt8]) -> ImageFileFormat? {
    ImageFileFormat(sniffing: file.span.bytes)
  }
}

extension ImageEncoder.Target {
  /// The kind of file.
  fileprivate var format: ImageFileFormat {
    switch self {
    case .png: .png
    case .jpeg: .jpeg
    }
  }
}
