import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Looks at frames beside their path: a frame never waits for an analysis, and an analysis that is
/// slow sees fewer frames.
struct AnalysisLane {
  let session: Session

  private var engine: Engine { self.session.engine }

  /// Runs until there is nothing more to look at, or the task is cancelled.
  func run() async {
    // Analyses that have not come back in time.
    var overdue: [Undertaking] = []
    // When the session is over, they may go on: the session does not wait for them.
    defer { for work in overdue { work.giveUp() } }
    while let job = await self.session.analysisJobs.next() {
      overdue.removeAll(where: \.isDone)
      overdue += await self.look(at: job)
      if Task.isCancelled { return }
    }
  }

  /// - Returns: What has not come back in time.
  private func look(at job: AnalysisJob) async -> [Undertaking] {
    let desk = self.session.analysisDesk
    defer { desk.end(job.frame.arrival) }
    // A file that cannot be read is the frame's own fault, and told with its outcome.
    guard let picture = try? await self.frame(of: job) else { return [] }
    var overdue: [Undertaking] = []
    desk.forget(allBut: job.stages)
    for (index, analysis) in job.analyses.enumerated() {
      let look = desk.look(of: analysis)
      // What has not come back is not asked again.
      guard let analyzer = look.begin() else { continue }
      let work = self.engine.openEnded.begin { _ in
        await self.run(analyzer, analysis, on: picture, of: job.frame, look) {
          // Before it is told: whoever hears of it may send the next.
          if index == job.analyses.count - 1 { desk.end(job.frame.arrival) }
        }
      }
      let limit = self.engine.customFilterTimeout
      guard await work.wait(atMost: limit, on: self.clock) == false else { continue }
      overdue.append(work)
      if !Task.isCancelled {
        self.tell(
          GoogleRPCStatus(
            code: .deadlineExceeded,
            message: "\(analysis.filter) (\(analysis.stage)) has looked at frame "
              + "\(job.frame.message.sequence) for more than \(limit)."))
      }
    }
    return overdue
  }

  private var clock: SessionClock { self.engine.clock }

  /// What is looked at: the frame as it came, decoded if it came as a file; `nil` if it is none.
  private func frame(of job: AnalysisJob) async throws -> Frame? {
    if case .frame(let frame) = job.picture { return frame }
    switch await job.samples?.fate {
    case .decoded(let frame)?: return frame
    case .unreadable?: return nil
    case .leftAlone?, nil: break
    }
    return try await self.engine.scheduler.withTurn(
      session: self.session.handle.number, deadline: job.frame.received + Self.patience
    ) { _, _ in
      try await self.engine.codec.decode(job.picture)
    }
  }

  private static let patience = Duration.seconds(1)

  /// - Parameter done: Called when it has looked, before that is told.
  private func run(
    _ analyzer: any FrameAnalyzer, _ analysis: PlannedAnalysis, on picture: Frame,
    of frame: IncomingFrame, _ look: AnalysisLook, done: @Sendable () -> Void
  ) async {
    do {
      // Charged to the session, and behind every frame.
      let (values, analyzer) = try await self.engine.scheduler.withTurn(
        session: self.session.handle.number, deadline: frame.received + Self.patience,
        limit: FrameScheduler.unknownTurnLimit
      ) { _, _ in
        var analyzer = analyzer
        let values = try await analyzer.analyze(picture, at: FrameMoment(index: frame.arrival))
        return (values, analyzer)
      }
      look.end(with: analyzer)
      done()
      self.tell(values, of: analysis, frame)
    } catch is CancellationError where Task.isCancelled {
      look.end(with: analyzer)
    } catch {
      // What it remembers is as before; and it fails again and again, perhaps.
      let isNews = look.fail(with: analyzer)
      done()
      guard isNews else { return }
      self.tell(
        GoogleRPCStatus(
          code: .internalError,
          message: "\(analysis.filter) (\(analysis.stage)) failed to look at frame "
            + "\(frame.message.sequence): \(error)"))
    }
  }

  private func tell(
    _ values: [String: AnalysisValue], of analysis: PlannedAnalysis, _ frame: IncomingFrame
  ) {
    let age = self.clock.now() - frame.received
    self.session.outbox.pushNews { _ in
      .message(
        .with {
          $0.analysis = Sidelight_V1_Analysis(values)
          $0.analysis.sequence = frame.message.sequence
          $0.analysis.stage = analysis.stage
          $0.analysis.filter = analysis.filter
          $0.analysis.ageUs = age.wireMicroseconds
        })
    }
  }

  /// An error that answers no message of the client's.
  private func tell(_ status: GoogleRPCStatus) {
    self.session.outbox.pushNews { _ in
      .message(.with { $0.error.status = Google_Rpc_Status(status) })
    }
  }
}
