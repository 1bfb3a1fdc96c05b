import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Filters and converts the results of a session for one of its named outputs, one at a time, when
/// the scheduler grants a turn.
struct OutputWorker: ~Copyable {
  private let session: Session
  private let output: SessionOutput
  private let runner: PlanRunner
  private var compiledPipelines: CompiledPipelineCache
  private let lastCost = CostEstimate(priorWork: .milliseconds(2))

  private var clock: SessionClock { self.session.engine.clock }

  init(session: Session, output: SessionOutput) {
    self.session = session
    self.output = output
    self.runner = PlanRunner(session)
    self.compiledPipelines = CompiledPipelineCache(
      engine: session.engine, session: session.handle.number, output: output.encoded,
      allowsReduced: false)
  }

  /// Runs until the mailbox is finished and empty, or the task is cancelled. Then the outcome queue
  /// is finished.
  mutating func run() async {
    defer { self.output.outcomes.finish() }
    while let first = await self.output.mailbox.first() {
      if self.session.options.dropPolicy == .neverDrop {
        await self.output.outcomes.waitForPictureCapacity()
      }
      guard !Task.isCancelled else { return }
      await self.process(first)
    }
  }

  /// A result that was taken, and its picture, or the error.
  private struct Attempt: Sendable {
    var job: SessionOutput.Job
    /// The time at which the work on it began.
    var started: Duration
    var picture: Result<OutgoingPicture, any Error>
  }

  /// Compiles the pipeline for a result, and filters the newest result with it, unless that one
  /// needs another pipeline.
  private mutating func process(_ first: SessionOutput.Job) async {
    let isOverride = first.frame.activePipeline.isOverride
    // An operator's decision is final: the output's pipeline could undo it.
    let pipeline = ActivePipeline(
      pipeline: isOverride ? self.session.emptyPipeline : self.output.pipeline,
      revision: Revision(number: isOverride ? 1 : 0, requestID: 0))
    let (scheduler, number) = (self.session.engine.processing.scheduler, self.session.handle.number)
    let attempt: Attempt?
    do {
      let compiled = try await self.compiledPipelines.compiledPipeline(for: pipeline, first.form)
      let (output, clock, lastCost) = (self.output, self.clock, self.lastCost)
      let filter = Filter(runner: self.runner, clock: clock)
      if compiled.plan.isIdentity, compiled.delivery.coding.codec != nil {
        // The writer encodes the result as it is, in a turn of its own.
        return await self.pass(filter, compiled, isOverride: isOverride)
      }
      let cost = compiled.cost.work ?? self.lastCost.work
      scheduler.recordArrival(work: cost ?? .zero, session: number)
      attempt = try await scheduler.withTurn(
        session: number,
        deadline: first.frame.deadline ?? first.frame.received + SessionWorker.defaultBudget,
        cost: cost
      ) { bands, meter -> Attempt? in
        let job = output.mailbox.take { job in
          job.form == first.form && job.frame.activePipeline.isOverride == isOverride
        }
        guard let job else { return nil }
        let started = clock.now()
        do {
          let (picture, work) = try await filter.run(compiled, on: job, bands, meter)
          lastCost.record(work)
          return Attempt(job: job, started: started, picture: .success(picture))
        } catch {
          return Attempt(job: job, started: started, picture: .failure(error))
        }
      }
    } catch {
      // The turn was not granted.
      guard !Task.isCancelled, let job = self.output.mailbox.take() else { return }
      attempt = Attempt(job: job, started: self.clock.now(), picture: .failure(error))
    }
    guard let attempt, !Task.isCancelled else { return }
    self.conclude(attempt)
  }

  /// Passes the newest result on without a turn.
  private func pass(_ filter: Filter, _ compiled: CompiledPipeline, isOverride: Bool) async {
    let job = self.output.mailbox.take { job in
      job.form == compiled.form && job.frame.activePipeline.isOverride == isOverride
    }
    guard let job else { return }
    let started = self.clock.now()
    let meter = WorkMeter(now: self.clock.now)
    let picture: Result<OutgoingPicture, any Error>
    do {
      picture = .success(try await filter.run(compiled, on: job, 1, meter).0)
    } catch {
      picture = .failure(error)
    }
    guard !Task.isCancelled else { return }
    self.conclude(Attempt(job: job, started: started, picture: picture))
  }

  private func conclude(_ attempt: Attempt) {
    let job = attempt.job
    switch attempt.picture {
    case .success(let picture): self.finish(job, picture, started: attempt.started)
    case .failure(let expired as WorkerPassObserver.Expired):
      self.output.drop(job, Drop(reason: .lateInPipeline, stage: expired.stage))
    case .failure(let error):
      let failure = error as? WorkerPassObserver.Failure
      let status =
        failure.map {
          GoogleRPCStatus.failedPass($0.filters, of: self.output.pipeline, $0.cause)
        }
        ?? (error as? FieldViolation)?.within("open.outputs['\(self.output.name)']").status
        ?? error as? GoogleRPCStatus ?? .failedFrame(error)
      self.output.drop(
        job, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    }
  }

  private func finish(
    _ job: SessionOutput.Job, _ picture: OutgoingPicture, started: Duration
  ) {
    let frame = job.frame
    let isOverride = frame.activePipeline.isOverride
    guard isOverride || !self.session.handle.isOverridden,
      frame.composition?.arePermitted != false
    else {
      return self.output.drop(job, Drop(reason: .outputSuperseded, stage: .outbox))
    }
    let timing = Sidelight_V1_FrameTiming.with {
      $0.queueUs = (started - frame.received).wireMicroseconds
      $0.processUs = (self.clock.now() - started).wireMicroseconds
    }
    let mustStay = self.session.options.dropPolicy == .neverDrop || frame.message.mustProcess
    self.output.outcomes.resolve(
      job.arrival,
      finished: FinishedFrame(
        sequence: frame.message.sequence,
        disposition: job.disposition,
        revision: frame.activePipeline.revision, byteCount: picture.byteCount,
        deadline: frame.deadline, mustStay: mustStay,
        payload: OutgoingFrame(
          content: picture.content,
          timing: timing, received: frame.received, isOverride: isOverride,
          composition: frame.composition, span: frame.span)))
  }
}

/// The work of one turn.
private struct Filter: Sendable {
  let runner: PlanRunner
  let clock: SessionClock

  /// Filters a result, and converts it to the output's form.
  ///
  /// - Returns: The picture, and the work of all threads.
  func run(
    _ compiled: CompiledPipeline, on job: SessionOutput.Job, _ bands: Int, _ meter: WorkMeter
  ) async throws -> (OutgoingPicture, work: Duration) {
    let start = self.clock.now()
    try compiled.check(self.runner.limits)
    let observer = WorkerPassObserver(
      tracing: job.frame.span.passObserver, clock: self.clock, deadline: job.frame.deadline)
    let picture = try await self.runner.run(
      compiled, on: job.frame, outcome: job.outcome, bands: bands, observer: observer, meter: meter
    ).picture
    let elapsed = self.clock.now() - start
    let work = elapsed + meter.beyondElapsed
    compiled.cost.record(elapsed - meter.paused, work: work)
    return (picture, work)
  }
}
