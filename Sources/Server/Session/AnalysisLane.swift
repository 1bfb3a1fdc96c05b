import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Looks at frames beside their path: a frame never waits for an analysis, and an analysis that is
/// slow sees fewer frames.
struct AnalysisLane {
  /// An analysis at work, and what it remembers.
  private struct Look {
    var filter: String
    var analyzer: any FrameAnalyzer
    /// Whether the client knows that it fails.
    var hasFailed = false
  }

  private let session: Session
  private var looks: [String: Look] = [:]

  init(session: Session) {
    self.session = session
  }

  private var engine: Engine { self.session.engine }

  /// Runs until there is nothing more to look at, or the task is cancelled.
  mutating func run() async {
    while let job = await self.session.analysisJobs.next() {
      try? await self.look(at: job)
    }
  }

  /// - Throws: `CancellationError`.
  private mutating func look(at job: AnalysisJob) async throws {
    // Of stages that are gone nothing is remembered.
    if self.looks.count > job.stages.count {
      self.looks = self.looks.filter { job.stages.contains($0.key) }
    }
    for analysis in job.analyses {
      var look = self.look(of: analysis)
      // Charged to the session, and behind every frame.
      let result: Result<[String: AnalysisValue], any Error> =
        try await self.engine.scheduler.withTurn(
          session: self.session.handle.number, deadline: job.frame.received + Self.patience
        ) { [analyzer = look.analyzer] _ in
          var analyzer = analyzer
          do {
            let values = try await analyzer.analyze(
              job.frame.picture, at: FrameMoment(index: job.frame.arrival))
            look.analyzer = analyzer
            return .success(values)
          } catch {
            return .failure(error)
          }
        }
      self.tell(result, of: analysis, job.frame, &look)
      self.looks[analysis.stage] = look
    }
  }

  private static let patience = Duration.seconds(1)

  /// An analysis keeps what it remembers while its stage holds the same filter, also when it was
  /// turned off in between.
  private func look(of analysis: PlannedAnalysis) -> Look {
    if let look = self.looks[analysis.stage], look.filter == analysis.filter { return look }
    return Look(filter: analysis.filter, analyzer: analysis.analysis.makeAnalyzer())
  }

  private func tell(
    _ result: Result<[String: AnalysisValue], any Error>, of analysis: PlannedAnalysis,
    _ frame: IncomingFrame, _ look: inout Look
  ) {
    switch result {
    case .success(let values):
      look.hasFailed = false
      let age = self.engine.clock.now() - frame.received
      self.session.outbox.pushNews { _ in
        .with {
          $0.analysis = Sidelight_V1_Analysis(values)
          $0.analysis.sequence = frame.message.sequence
          $0.analysis.stage = analysis.stage
          $0.analysis.filter = analysis.filter
          $0.analysis.ageUs = age.wireMicroseconds
        }
      }
    case .failure(let error):
      guard !look.hasFailed else { return }
      look.hasFailed = true
      self.session.outbox.pushNews { _ in
        .with {
          $0.error.status.code = 13  // INTERNAL
          $0.error.status.message =
            "\(analysis.filter) (\(analysis.stage)) failed to look at frame "
            + "\(frame.message.sequence): \(error)"
        }
      }
    }
  }
}
