import GRPCCore
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Filters one frame with a compiled pipeline: decodes an image file, runs the plan, encodes the
/// result.
struct PlanRunner: Sendable {
  let processing: FrameProcessing
  let limits: FrameLimits
  let resolver: FrameResolver
  let scene: SessionScene
  /// The session's label, which frames may show.
  let label: String
  /// The participant whose video the session filters; empty for the caller itself.
  let participant: String

  /// Filters a frame, spread over a number of threads.
  ///
  /// - Parameters:
  ///   - outcome: The message without the picture.
  ///   - isReduced: Whether to leave out optional work on the scene.
  ///   - bands: The threads to spread each pass over.
  ///   - meter: Measures the work of all threads.
  func run(
    _ compiled: CompiledPipeline, on frame: IncomingFrame, outcome: Sidelight_V1_FilteredFrame,
    isReduced: Bool = false, bands: Int, observer: some PassObserver, meter: WorkMeter
  ) async throws -> OutgoingPicture {
    let codec = self.processing.codec
    let executor = self.processing.executor
    let input = try await codec.decode(frame.picture, observer: observer)
    frame.samples?.resolve(.decoded(input))
    if case .file = frame.picture { self.resolver.decodingErrors.reset() }
    let time = FrameTime(index: frame.arrival, arrival: frame.received)
    let scene = try await self.scene(
      of: input, frame, at: time, for: compiled.plan, isReduced: isReduced, observer)
    let details = self.details(of: frame)
    guard compiled.delivery.coding.isFile else {
      // The last pass writes into the outgoing message, or into the client's slot.
      let picture = try OutgoingPicture(
        shapedAs: compiled.plan.output, orientation: compiled.delivery.orientation,
        outcome: outcome, ring: self.resolver.ring(for: frame))
      try await executor.run(
        compiled.plan, on: input, into: picture.frame, at: time, scene: scene, details: details,
        bands: bands, observer: observer, meter: meter)
      return picture
    }
    let result = try await executor.run(
      compiled.plan, on: input, at: time, scene: scene, details: details, bands: bands,
      observer: observer, meter: meter)
    return try await codec.withJPEG(of: result, compiled.jpeg, observer: observer) { file in
      try OutgoingPicture(
        jpeg: file, of: result.size, orientation: compiled.delivery.orientation, outcome: outcome,
        limits: self.limits)
    }
  }

  /// Returns the values of a frame that stages can show.
  private func details(of frame: IncomingFrame) -> FrameDetails {
    FrameDetails(
      captureNanoseconds: frame.message.captureTimeNs, sequence: frame.message.sequence,
      label: self.label, participant: self.participant, tags: frame.message.tags)
  }

  /// Returns what the scene stages of a plan draw on a frame; `nil` if it has none.
  private func scene(
    of input: Frame, _ frame: IncomingFrame, at time: FrameTime, for plan: Plan, isReduced: Bool,
    _ observer: some PassObserver
  ) async throws -> FrameScene? {
    guard !plan.sceneStages.isEmpty else { return nil }
    do {
      let (scene, reports) = try await self.scene.step(
        input, at: time, for: plan, isReduced: isReduced, self.processing, observer: observer,
        jobs: frame.span.passObserver)
      for report in reports {
        self.resolver.send(report.values, stage: report.stage, filter: report.filter, of: frame)
      }
      return scene
    } catch let failure as StreamScene.Failure {
      throw WorkerPassObserver.Failure(filters: [failure.filter], cause: failure.cause)
    }
  }
}

/// Observes the passes of a frame or a still image: stops between two passes once the deadline has
/// passed, opens a span for each pass, names the pass that fails, and records the slowest.
struct WorkerPassObserver: PassObserver {
  /// The frame's deadline passed between two passes.
  struct Expired: Error {
    /// The stage of the server that had the frame.
    var stage: DropStage
  }

  /// A pass failed.
  struct Failure: Error {
    /// The filters of the pass.
    var filters: [String]
    var cause: any Error
  }

  /// The pass that took longest.
  final class Slowest: Sendable {
    private let state = Mutex<(name: String, elapsed: Duration)>(("", .zero))

    /// The name of the pass; empty before the first.
    var name: String { self.state.withLock { $0.name } }

    fileprivate func record(_ name: String, _ elapsed: Duration) {
      self.state.withLock { state in
        if elapsed > state.elapsed { state = (name, elapsed) }
      }
    }
  }

  let tracing: FramePassObserver
  let clock: SessionClock
  /// The frame's deadline; `nil` disables the check.
  let deadline: Duration?
  let slowest = Slowest()

  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    let start = self.clock.now()
    if let deadline, start > deadline { throw Expired(stage: .pipeline) }
    do {
      let result = try await self.tracing.pass(description, body)
      self.slowest.record(description.name, self.clock.now() - start)
      return result
    } catch let error as CancellationError where Task.isCancelled {
      throw error
    } catch {
      throw Failure(filters: description.filters, cause: error)
    }
  }
}
