import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// What becomes of frames: each ends in one of these ways.
extension SessionWorker {
  /// Under an override a frame is never shown as it came.
  func policy(for frame: IncomingFrame, failed filters: [String]?) -> FailurePolicy {
    let stated = filters.flatMap { frame.selection.pipeline.failurePolicy(ofPassWith: $0) }
    let policy = stated ?? self.session.options.failurePolicy
    return frame.selection.isOverride ? max(policy, .blur) : policy
  }

  /// Something went wrong with a frame: it ends as its fault has it, or as the failure policy does.
  func fail(_ frame: IncomingFrame, _ error: any Error, started: Duration) async {
    let failure = error as? WorkerPassObserver.Failure
    let cause = failure?.cause ?? error
    frame.span.record(cause)
    if let unreadable = failure?.cause as? PictureCodec.Unreadable {
      frame.samples?.resolve(.unreadable)
      return self.drop(frame, unreadable.fault(in: frame.message.image))
    }
    let status =
      failure.map { failure in
        GoogleRPCStatus(
          code: .internalError,
          message: "\(failure.filters.joined(separator: "+")) failed: \(failure.cause)")
      } ?? (error as? FieldFault)?.status ?? error as? GoogleRPCStatus
      ?? GoogleRPCStatus(code: .internalError, message: "The frame failed: \(error)")
    await self.fail(
      frame, status, self.policy(for: frame, failed: failure?.filters), started: started)
  }

  func fail(
    _ frame: IncomingFrame, _ status: GoogleRPCStatus, _ policy: FailurePolicy, started: Duration
  ) async {
    switch policy {
    case .passThrough:
      self.passThrough(frame, failure: status, started: started)
    case .drop:
      self.drop(frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    case .blur:
      let blurred = try? await self.engine.scheduler.withTurn(
        session: self.session.handle.number,
        deadline: frame.deadline ?? frame.received + Self.patience
      ) { bands, meter in
        let blur = try self.engine.compileBlur(
          frame.picture.form, as: self.session.options.output)
        try blur.check(self.engine.frameLimits)
        return try await self.runPlan(
          blur, of: frame, frame.outcome(.degraded, failure: status), bands, NoPassObserver(), meter
        )
      }
      guard let blurred else {
        return self.drop(
          frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
      }
      self.finish(frame, blurred, .degraded, started: started)
    }
  }

  /// A file whose header was sound is none: that frame ends, whatever the failure policy.
  func drop(_ frame: IncomingFrame, _ fault: FieldFault) {
    let fault = fault.within("frame.image")
    self.session.unreadable.count(fault)
    self.drop(frame, Drop(reason: .invalidFrame, stage: .pipeline, diagnostic: fault.status))
  }

  func drop(_ frame: IncomingFrame, _ drop: Drop) {
    frame.span.end(dropped: drop)
    let lateness = frame.deadline.map { max(.zero, self.clock.now() - $0) } ?? .zero
    self.session.resolve(
      frame.arrival, dropped: drop, lateness: drop.reason == .lateInPipeline ? lateness : .zero)
    if drop.reason == .lateInPipeline { self.session.quality.recordLost() }
  }

  /// The frame comes back as it came, or as a note that it did not change.
  func passThrough(
    _ frame: IncomingFrame, failure: GoogleRPCStatus? = nil, started: Duration
  ) {
    let options = self.session.options
    var outcome = frame.outcome(.passedThrough, failure: failure)
    guard !options.allowUnmodified, !options.analysisOnly else {
      outcome.image.pixels = nil
      outcome.unmodified = true
      return self.finish(frame, .bare(outcome), byteCount: 0, .passedThrough, started: started)
    }
    // In its own slot it comes back where it lies.
    guard !frame.message.image.isInSlot else {
      return self.finish(
        frame, .bare(outcome), byteCount: frame.picture.bytes.byteCount, .passedThrough,
        started: started)
    }
    do {
      let picture = try OutgoingPicture(passing: frame.picture.bytes, outcome: outcome)
      self.finish(frame, picture, .passedThrough, started: started)
    } catch {
      frame.span.record(error)
      let status = GoogleRPCStatus(
        code: .internalError, message: "The frame cannot be sent back: \(error)")
      self.drop(frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
    }
  }

  func finish(
    _ frame: IncomingFrame, _ picture: OutgoingPicture, _ disposition: Disposition,
    started: Duration
  ) {
    self.finish(
      frame, picture.content, byteCount: picture.byteCount, disposition, started: started)
  }

  /// Where the frame's picture may go: outcomes answer in kind.
  func ring(for frame: IncomingFrame) -> SessionRing? {
    frame.message.image.isInSlot ? self.session.ring : nil
  }

  func finish(
    _ frame: IncomingFrame, _ content: OutgoingFrame.Content, byteCount: Int,
    _ disposition: Disposition, started: Duration
  ) {
    // An override holds for whatever has not gone out, however it was made.
    guard frame.selection.isOverride || !self.session.handle.isOverridden else {
      return self.drop(frame, Drop(reason: .superseded, stage: .pipeline))
    }
    let timing = Sidelight_V1_FrameTiming.with {
      $0.queueUs = (started - frame.received).wireMicroseconds
      $0.processUs = (self.clock.now() - started).wireMicroseconds
    }
    self.session.resolve(
      frame.arrival,
      finished: FinishedFrame(
        sequence: frame.message.sequence, disposition: disposition,
        revision: frame.selection.revision, byteCount: byteCount,
        deadline: frame.message.mustProcess ? nil : frame.deadline,
        mustStay: frame.message.mustProcess,
        payload: OutgoingFrame(
          content: content, timing: timing, received: frame.received, span: frame.span)))
  }
}
