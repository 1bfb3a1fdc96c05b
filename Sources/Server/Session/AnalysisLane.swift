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
    var looks: [String: AnalysisLook] = [:]
    // An analysis that does not come back is left behind here, until it does.
    await withDiscardingTaskGroup { group in
      while let job = await self.session.analysisJobs.next() {
        await self.look(at: job, with: &looks, in: &group)
        if Task.isCancelled { return }
      }
    }
  }

  private func look(
    at job: AnalysisJob, with looks: inout [String: AnalysisLook],
    in group: inout DiscardingTaskGroup
  ) async {
    // A file that cannot be read is the frame's own fault, and told with its outcome.
    guard let picture = try? await self.frame(of: job) else { return }
    // Of stages that are gone nothing is remembered.
    if looks.count > job.stages.count {
      looks = looks.filter { job.stages.contains($0.key) }
    }
    for analysis in job.analyses {
      let look = Self.look(of: analysis, among: &looks)
      // What has not come back is not asked again.
      guard let analyzer = look.begin() else { continue }
      let work = Completion()
      group.addTask(executorPreference: self.engine.compute) {
        await self.run(analyzer, analysis, on: picture, of: job.frame, look)
        work.finish()
      }
      let limit = self.engine.customFilterTimeout
      if await work.wait(atMost: limit, on: self.clock) == false, !Task.isCancelled {
        self.tell(
          GoogleRPCStatus(
            code: .deadlineExceeded,
            message: "\(analysis.filter) (\(analysis.stage)) has looked at frame "
              + "\(job.frame.message.sequence) for more than \(limit)."))
      }
    }
  }

  private var clock: SessionClock { self.engine.clock }

  /// What is looked at: the frame as it came, decoded if it came as a file.
  private func frame(of job: AnalysisJob) async throws -> Frame {
    if case .frame(let frame) = job.picture { return frame }
    return try await self.engine.scheduler.withTurn(
      session: self.session.handle.number, deadline: job.frame.received + Self.patience
    ) { _ in
      try await self.engine.codec.decode(job.picture)
    }
  }

  private static let patience = Duration.seconds(1)

  /// An analysis keeps what it remembers while its stage holds the same filter with the same
  /// parameters, also when it was turned off in between. With others it begins anew.
  private static func look(
    of analysis: PlannedAnalysis, among looks: inout [String: AnalysisLook]
  ) -> AnalysisLook {
    if let look = looks[analysis.stage], look.identity == analysis.identity { return look }
    let look = AnalysisLook(analysis)
    looks[analysis.stage] = look
    return look
  }

  private func run(
    _ analyzer: any FrameAnalyzer, _ analysis: PlannedAnalysis, on picture: Frame,
    of frame: IncomingFrame, _ look: AnalysisLook
  ) async {
    do {
      // Charged to the session, and behind every frame.
      let (values, analyzer) = try await self.engine.scheduler.withTurn(
        session: self.session.handle.number, deadline: frame.received + Self.patience,
        limit: FrameScheduler.unknownTurnLimit
      ) { _ in
        var analyzer = analyzer
        let values = try await analyzer.analyze(picture, at: FrameMoment(index: frame.arrival))
        return (values, analyzer)
      }
      look.end(with: analyzer)
      self.tell(values, of: analysis, frame)
    } catch is CancellationError where Task.isCancelled {
      look.end(with: analyzer)
    } catch {
      // What it remembers is as before; and it fails again and again, perhaps.
      guard look.fail(with: analyzer) else { return }
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
      .with {
        $0.analysis = Sidelight_V1_Analysis(values)
        $0.analysis.sequence = frame.message.sequence
        $0.analysis.stage = analysis.stage
        $0.analysis.filter = analysis.filter
        $0.analysis.ageUs = age.wireMicroseconds
      }
    }
  }

  /// An error that answers no message of the client's.
  private func tell(_ status: GoogleRPCStatus) {
    self.session.outbox.pushNews { _ in .with { $0.error.status = Google_Rpc_Status(status) } }
  }
}
