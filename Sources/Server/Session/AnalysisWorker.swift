import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Analyzes frames of a session in parallel to the worker: a frame never waits for an analysis, and
/// a slow analysis sees fewer frames.
struct AnalysisWorker {
  let session: Session
  private var engine: Engine { self.session.engine }
  private var clock: SessionClock { self.session.engine.clock }

  /// The deadline assumed by the scheduler for an analysis, from the frame's arrival.
  private static let defaultBudget = Duration.seconds(1)

  /// Runs until the mailbox of jobs is finished and empty, or the task is cancelled.
  func run() async {
    // Analyses that have not returned in time. The session does not wait for them when it ends.
    var overdue: [DetachedJob] = []
    defer { for job in overdue { job.abandon() } }
    while let job = await self.session.analysisJobs.next() {
      overdue.removeAll(where: \.isDone)
      overdue += await self.analyze(job)
      if Task.isCancelled { return }
    }
  }

  /// Runs the analyses of a frame, one at a time.
  ///
  /// - Returns: The analyses that have not returned in time.
  private func analyze(_ job: AnalysisJob) async -> [DetachedJob] {
    let analyzers = self.session.analyzers
    defer { analyzers.end(job.frame.arrival) }
    // The outcome of the frame reports a file that cannot be decoded, so the error is not sent.
    guard let picture = try? await self.frame(of: job) else { return [] }
    var overdue: [DetachedJob] = []
    analyzers.removeAll(except: job.stages)
    for (index, analysis) in job.analyses.enumerated() {
      let slot = analyzers.slot(for: analysis)
      // An analyzer that has not returned doesn't get another frame.
      guard let analyzer = slot.begin() else { continue }
      let detached = self.engine.processing.detachedJobs.start { _ in
        await self.run(analyzer, analysis, on: picture, of: job.frame, slot) {
          // Before the result is sent: the client may send the next frame in response.
          if index == job.analyses.count - 1 { analyzers.end(job.frame.arrival) }
        }
      }
      let limit = self.engine.admission.customFilterTimeout
      if await detached.wait(atMost: limit, on: self.clock) { continue }
      overdue.append(detached)
      if !Task.isCancelled {
        self.send(
          GoogleRPCStatus(
            code: .deadlineExceeded,
            message:
              "\(analysis.filter) (\(analysis.stage)) has taken more than \(limit) for frame "
              + "\(job.frame.message.sequence)."))
      }
    }
    return overdue
  }

  /// Returns the frame as it arrived, decoded if it is a file, or `nil` if it cannot be decoded.
  private func frame(of job: AnalysisJob) async throws -> Frame? {
    if case .frame(let frame) = job.picture { return frame }
    switch await job.samples?.resolution {
    case .decoded(let frame)?: return frame
    case .unreadable?: return nil
    case .abandoned?, nil: break
    }
    // A picture of a stream cannot be decoded again.
    if case .video = job.picture { return nil }
    return try await self.engine.processing.scheduler.withTurn(
      session: self.session.handle.number, deadline: job.frame.received + Self.defaultBudget
    ) { _, _ in
      try await self.engine.processing.codec.decode(job.picture)
    }
  }

  /// - Parameter done: Called after the analysis, before its result is sent.
  private func run(
    _ analyzer: any FrameAnalyzer, _ analysis: PlannedAnalysis, on picture: Frame,
    of frame: IncomingFrame, _ slot: AnalyzerSlot, done: @Sendable () -> Void
  ) async {
    do {
      // The scheduler charges the session, and gives frames with less time precedence.
      func analyze() async throws -> ([String: AnalysisValue], any FrameAnalyzer) {
        var analyzer = analyzer
        let values = try await analyzer.analyze(
          picture, at: FrameTime(index: frame.arrival, arrival: frame.received))
        return (values, analyzer)
      }
      let (values, analyzer) =
        analysis.analysis is any RemoteAnalysis
        ? try await withTaskExecutorPreference(self.engine.processing.compute) {
          try await analyze()
        }
        : try await self.engine.processing.scheduler.withTurn(
          session: self.session.handle.number, deadline: frame.received + Self.defaultBudget,
          limit: FrameScheduler.unknownTurnLimit
        ) { _, _ in try await analyze() }
      slot.end(with: analyzer)
      done()
      self.session.resolver.send(
        values, stage: analysis.stage, filter: analysis.filter, of: frame)
    } catch is CancellationError where Task.isCancelled {
      slot.end(with: analyzer)
    } catch {
      // The analyzer keeps its state from before the frame. Only the first error in a row is sent.
      let isFirstFailure = slot.fail(with: analyzer)
      done()
      guard isFirstFailure else { return }
      self.send(.failedAnalysis(analysis, frame: frame.message.sequence, error))
    }
  }

  /// Sends an error that isn't an answer to a message.
  private func send(_ status: GoogleRPCStatus) {
    self.session.outcomes.pushNotice { _ in
      .message(.with { $0.error.status = Google_Rpc_Status(status) })
    }
  }
}

/// A frame and the analyses that are due for it.
struct AnalysisJob: Sendable {
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
