import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Looks at frames beside their path: a frame never waits for an analysis, and an analysis that is
/// slow sees fewer frames.
struct AnalysisWorker {
  let session: Session

  private var engine: Engine { self.session.engine }

  /// Runs until there is nothing more to look at, or the task is cancelled.
  func run() async {
    // Analyses that have not come back in time.
    var overdue: [DetachedJob] = []
    // When the session is over, they may go on: the session does not wait for them.
    defer { for work in overdue { work.abandon() } }
    while let job = await self.session.analysisJobs.next() {
      overdue.removeAll(where: \.isDone)
      overdue += await self.analyze(_: job)
      if Task.isCancelled { return }
    }
  }

  /// - Returns: What has not come back in time.
  private func analyze(_ job: AnalysisJob) async -> [DetachedJob] {
    let analyzers = self.session.analyzers
    defer { analyzers.end(job.frame.arrival) }
    // A file that cannot be read is the frame's own fault, and told with its outcome.
    guard let picture = try? await self.frame(of: job) else { return [] }
    var overdue: [DetachedJob] = []
    analyzers.removeAll(except: job.stages)
    for (index, analysis) in job.analyses.enumerated() {
      let slot = analyzers.slot(for: analysis)
      // What has not come back is not asked again.
      guard let analyzer = slot.begin() else { continue }
      let work = self.engine.detachedJobs.start { _ in
        await self.run(analyzer, analysis, on: picture, of: job.frame, slot) {
          // Before it is told: whoever hears of it may send the next.
          if index == job.analyses.count - 1 { analyzers.end(job.frame.arrival) }
        }
      }
      let limit = self.engine.customFilterTimeout
      guard await work.wait(atMost: limit, on: self.clock) == false else { continue }
      overdue.append(work)
      if !Task.isCancelled {
        self.send(
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
    switch await job.samples?.resolution {
    case .decoded(let frame)?: return frame
    case .unreadable?: return nil
    case .abandoned?, nil: break
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
    of frame: IncomingFrame, _ slot: AnalyzerSlot, done: @Sendable () -> Void
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
      slot.end(with: analyzer)
      done()
      self.send(values, of: analysis, frame)
    } catch is CancellationError where Task.isCancelled {
      slot.end(with: analyzer)
    } catch {
      // What it remembers is as before; and it fails again and again, perhaps.
      let isFirstFailure = slot.fail(with: analyzer)
      done()
      guard isFirstFailure else { return }
      self.send(
        GoogleRPCStatus(
          code: .internalError,
          message: "\(analysis.filter) (\(analysis.stage)) failed to look at frame "
            + "\(frame.message.sequence): \(error)"))
    }
  }

  private func send(
    _ values: [String: AnalysisValue], of analysis: PlannedAnalysis, _ frame: IncomingFrame
  ) {
    let age = self.clock.now() - frame.received
    self.session.outcomes.pushNotice { _ in
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
  private func send(_ status: GoogleRPCStatus) {
    self.session.outcomes.pushNotice { _ in
      .message(.with { $0.error.status = Google_Rpc_Status(status) })
    }
  }
}

/// A frame that analyses are to look at.
struct AnalysisJob: Sendable {
  let frame: IncomingFrame
  /// Its picture, where nobody writes any more.
  let picture: IncomingPicture
  /// Its samples, if it came as a file that the lane decodes.
  let samples: SharedSamples?
  /// Those whose turn it is.
  let analyses: [PlannedAnalysis]
  /// The stages of all that the pipeline has.
  let stages: [String]
}

extension Sidelight_V1_Analysis {
  /// What an analysis found, each value in the field of its kind.
  init(_ values: [String: AnalysisValue]) {
    self.init()
    for (name, value) in values { self.add(value, as: name) }
  }

  private mutating func add(_ value: AnalysisValue, as name: String) {
    switch value {
    case .number(let number): self.figures[name] = number
    case .vector(let numbers): self.rows[name] = .with { $0.values = numbers }
    case .text(let text): self.words[name] = text
    case .list(let values):
      for value in values { self.add(value, as: name) }
    case .region(let region, let confidence, let id):
      self.detections.append(
        .with {
          $0.kind = name
          $0.trackingID = id
          $0.confidence = confidence
          $0.x = region.origin.x.value
          $0.y = region.origin.y.value
          $0.width = region.width.value
          $0.height = region.height.value
        })
    }
  }
}
