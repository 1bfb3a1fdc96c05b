import GRPCCore
import GRPCProtobuf
package import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The analyses of a session's frames, which run in jobs: a frame never waits for an analysis, and
/// a slow analysis sees fewer frames.
final class SessionAnalyses: Sendable {
  /// A frame and the analyses that are due for it.
  struct Request: Sendable {
    let frame: IncomingFrame
    /// The frame's picture, in memory that is not written to.
    let picture: IncomingPicture
    /// The samples of a file that the worker decodes, if any.
    let samples: SharedSamples?
    /// The analyses that are due.
    let analyses: [PlannedAnalysis]
    /// The stages of all analyses of the pipeline.
    let stages: [String]
  }

  private struct State {
    /// The analyzers, by stage.
    var slots: [String: AnalyzerSlot] = [:]
    /// The arrivals of frames that wait or are analyzed.
    var frames: Set<UInt64> = []
  }

  /// The deadline assumed by the scheduler for an analysis, from the frame's arrival.
  private static let defaultBudget = Duration.seconds(1)

  /// The next frame; a newer one displaces it.
  private let requests = Mailbox<Request>()
  private let state = Mutex(State())

  /// Returns whether a frame that is offered now would be analyzed: other frames are not waiting,
  /// and one of the analyses is idle.
  func isFree(for analyses: [PlannedAnalysis]) -> Bool {
    self.state.withLock { state in
      state.frames.isEmpty
        && analyses.contains { analysis in
          guard let slot = state.slots[analysis.stage] else { return true }
          return slot.isIdle || slot.identity != analysis.identity
        }
    }
  }

  /// Offers a frame.
  func offer(_ request: Request) async {
    self.state.withLock { _ = $0.frames.insert(request.frame.arrival) }
    for displaced in await self.requests.offer(request) { self.end(displaced.element) }
  }

  /// Stops accepting frames, which ends ``run(of:)`` after the last one.
  func finish() {
    self.requests.finish()
  }

  /// Analyzes the frames of a session until it is finished, or the task is cancelled.
  func run(of session: Session) async {
    while let request = await self.requests.next() {
      await self.analyze(request, session)
      if Task.isCancelled { return }
    }
  }

  /// Runs the analyses of a frame, one at a time.
  private func analyze(_ request: Request, _ session: Session) async {
    defer { self.end(request) }
    // The outcome of the frame reports a file that cannot be decoded, so the error is not sent.
    guard let picture = try? await self.picture(of: request, session) else { return }
    self.removeAnalyzers(except: request.stages)
    for (index, analysis) in request.analyses.enumerated() {
      let slot = self.slot(for: analysis)
      // An analyzer that has not returned doesn't get another frame.
      guard let analyzer = slot.begin() else { continue }
      let job = self.start(
        analyzer, analysis, in: slot, on: picture, of: request.frame, session
      ) {
        // Before the result is sent: the client may send the next frame in response.
        if index == request.analyses.count - 1 { self.end(request) }
      }
      let limit = session.engine.admission.customFilterTimeout
      guard await job.wait(atMost: limit, on: session.engine.clock) == false, !Task.isCancelled
      else { continue }
      Self.send(
        GoogleRPCStatus(
          code: .deadlineExceeded,
          message:
            "\(analysis.filter) (\(analysis.stage)) has taken more than \(limit) for frame "
            + "\(request.frame.message.sequence)."), to: session)
    }
  }

  /// Starts an analysis of a frame.
  ///
  /// - Parameter done: Called after the analysis, before its result is sent.
  private func start(
    _ analyzer: any FrameAnalyzer, _ analysis: PlannedAnalysis, in slot: AnalyzerSlot,
    on picture: Frame, of frame: IncomingFrame, _ session: Session,
    done: @escaping @Sendable () -> Void
  ) -> DetachedJob {
    let turn =
      analysis.analysis is any RemoteAnalysis
      ? nil : SessionJobs.Turn(deadline: frame.received + Self.defaultBudget, isCustom: true)
    return session.jobs.start(in: turn) { _ in
      var analyzer = analyzer
      let values = try await analyzer.analyze(
        picture, at: FrameTime(index: frame.arrival, arrival: frame.received))
      return (values, analyzer)
    } completion: { (result: Result<([String: AnalysisValue], any FrameAnalyzer), any Error>) in
      switch result {
      case .success((let values, let analyzer)):
        slot.end(with: analyzer)
        done()
        session.resolver.send(values, stage: analysis.stage, filter: analysis.filter, of: frame)
      case .failure(is CancellationError) where Task.isCancelled:
        slot.end(with: analyzer)
      case .failure(let error):
        // The analyzer keeps its state from before the frame. Only the first error in a row is
        // sent.
        let isFirstFailure = slot.fail(with: analyzer)
        done()
        guard isFirstFailure else { return }
        Self.send(.failedAnalysis(analysis, frame: frame.message.sequence, error), to: session)
      }
    }
  }

  /// Sends an error that isn't an answer to a message.
  private static func send(_ status: GoogleRPCStatus, to session: Session) {
    session.outcomes.pushNotice { _ in
      .message(.with { $0.error.status = Google_Rpc_Status(status) })
    }
  }

  /// Returns the frame as it arrived, decoded if it is a file, or `nil` if it cannot be decoded.
  private func picture(of request: Request, _ session: Session) async throws -> Frame? {
    if case .frame(let frame) = request.picture { return frame }
    switch await request.samples?.resolution {
    case .decoded(let frame)?: return frame
    case .unreadable?: return nil
    case .abandoned?, nil: break
    }
    // A picture of a stream cannot be decoded again.
    if case .video = request.picture { return nil }
    let processing = session.engine.processing
    return try await processing.scheduler.withTurn(
      session: session.handle.number, deadline: request.frame.received + Self.defaultBudget
    ) { _, _ in
      try await processing.codec.decode(request.picture)
    }
  }

  /// Records that a frame is analyzed, or will never be. Later calls have no effect.
  private func end(_ request: Request) {
    self.state.withLock { _ = $0.frames.remove(request.frame.arrival) }
  }

  /// Removes the analyzers of all other stages.
  private func removeAnalyzers(except stages: [String]) {
    self.state.withLock { state in
      guard state.slots.count > stages.count else { return }
      state.slots = state.slots.filter { stages.contains($0.key) }
    }
  }

  /// Returns the slot of an analysis. The analyzer keeps its state while its stage has the same
  /// filter with the same parameters, even if it was turned off in between.
  private func slot(for analysis: PlannedAnalysis) -> AnalyzerSlot {
    let known = self.state.withLock { $0.slots[analysis.stage] }
    if let known, known.identity == analysis.identity { return known }
    let slot = AnalyzerSlot(analysis)
    self.state.withLock { $0.slots[analysis.stage] = slot }
    return slot
  }
}

/// The slot of one analyzer, which is empty while the analyzer runs.
final class AnalyzerSlot: Sendable {
  private struct State {
    /// `nil` while it runs.
    var analyzer: (any FrameAnalyzer)?
    /// Whether its last run failed.
    var hasFailed = false
  }

  /// The filter and its parameters.
  let identity: PlannedAnalysis.Identity
  private let state: Mutex<State>

  init(_ analysis: PlannedAnalysis) {
    self.identity = analysis.identity
    self.state = Mutex(State(analyzer: analysis.analysis.makeAnalyzer()))
  }

  /// Whether the analyzer does not run.
  var isIdle: Bool { self.state.withLock { $0.analyzer != nil } }

  /// Takes the analyzer for a run.
  ///
  /// - Returns: `nil` if it is still running.
  func begin() -> (any FrameAnalyzer)? {
    self.state.withLock { $0.analyzer.take() }
  }

  /// Returns the analyzer after a run.
  func end(with analyzer: any FrameAnalyzer) {
    self.state.withLock { $0 = State(analyzer: analyzer) }
  }

  /// Returns the analyzer after a run that failed.
  ///
  /// - Returns: Whether the run before succeeded.
  func fail(with analyzer: any FrameAnalyzer) -> Bool {
    self.state.withLock { state in
      defer { state = State(analyzer: analyzer, hasFailed: true) }
      return !state.hasFailed
    }
  }
}

/// Selects the analyses that are due for a frame: every nth frame that an analysis could see.
package struct AnalysisSchedule: Sendable {
  /// The frames since the last analysis, by stage.
  private var waited: [String: Int] = [:]

  package init() {}

  /// Counts a frame.
  ///
  /// - Parameters:
  ///   - analyses: The analyses of the active pipeline.
  ///   - isReduced: Whether the session is short of time. Analyses are then due half as often.
  /// - Returns: The analyses that are due for the frame.
  package mutating func due(
    among analyses: [PlannedAnalysis], isReduced: Bool
  ) -> [PlannedAnalysis] {
    if self.waited.count > analyses.count {
      let stages = Set(analyses.map(\.stage))
      self.waited = self.waited.filter { stages.contains($0.key) }
    }
    return analyses.filter { analysis in
      let every = analysis.everyNth * (isReduced ? 2 : 1)
      let waited = (self.waited[analysis.stage] ?? every - 1) + 1
      self.waited[analysis.stage] = waited >= every ? 0 : waited
      return waited >= every
    }
  }

  /// Makes analyses that did not run due for the next frame.
  package mutating func postpone(_ analyses: [PlannedAnalysis]) {
    for analysis in analyses { self.waited[analysis.stage] = nil }
  }
}
