import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Takes frames out of the mailbox and filters them, one at a time.
struct SessionLane {
  let session: Session

  private var engine: Engine { self.session.engine }

  /// Runs until the mailbox is finished and empty, or the task is cancelled.
  func run() async {
    while let frame = await self.session.mailbox.next() {
      if self.session.options.dropPolicy != .newestWins {
        await self.session.outbox.waitForPictureRoom()
      }
      guard !Task.isCancelled else { return }
      await self.process(frame)
    }
  }

  private func process(_ frame: IncomingFrame) async {
    let started = self.engine.clock.now()
    frame.span.leaveQueue()
    let disposition: Disposition
    var failure: GoogleRPCStatus?
    var image = frame.message.image
    do {
      if let filtered = try await self.filter(frame) {
        image = filtered
        disposition = .filtered
      } else {
        disposition = .passedThrough
      }
    } catch is CancellationError where Task.isCancelled {
      return
    } catch {
      let status =
        (error as? FieldFault)?.status
        ?? GoogleRPCStatus(code: .internalError, message: "A stage failed: \(error)")
      guard !self.session.options.dropsFailedFrames else {
        let drop = Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status)
        frame.span.end(dropped: drop)
        self.session.outbox.resolve(frame.arrival, dropped: drop)
        return
      }
      frame.span.record(error)
      failure = status
      disposition = .passedThrough
    }

    let isUnmodified = disposition == .passedThrough && self.session.options.allowUnmodified
    if isUnmodified { image.pixels = nil }
    let message = self.message(
      for: frame, image: image, disposition: disposition, isUnmodified: isUnmodified,
      failure: failure, started: started)
    let displaced = self.session.outbox.resolve(
      frame.arrival,
      made: FinishedFrame(
        sequence: frame.message.sequence, disposition: disposition,
        revision: frame.selection.revision, byteCount: image.inline.count,
        payload: OutgoingFrame(message: message, received: frame.received, span: frame.span)))
    displaced?.span.end(dropped: Drop(reason: .outputSuperseded, stage: .outbox))
  }

  /// - Returns: What the pipeline makes of the frame; `nil` if it leaves it as it is.
  private func filter(_ frame: IncomingFrame) async throws -> Sidelight_V1_Image? {
    let plan = self.engine.plans.plan(for: frame.selection.pipeline, frame.geometry)
    guard !plan.isIdentity else { return nil }
    try self.engine.frameLimits.check(output: plan.output.size)
    let input = try frame.message.image.makeFrame(
      limits: self.engine.frameLimits, pool: self.engine.pool)
    let output = try await self.engine.executor.run(
      plan, on: input, at: FrameMoment(index: frame.arrival), observer: frame.span.passObserver)
    return Sidelight_V1_Image(output)
  }

  private func message(
    for frame: IncomingFrame, image: Sidelight_V1_Image, disposition: Disposition,
    isUnmodified: Bool, failure: GoogleRPCStatus?, started: Duration
  ) -> Sidelight_V1_FilteredFrame {
    .with {
      $0.sequence = frame.message.sequence
      $0.image = image
      $0.captureTimeNs = frame.message.captureTimeNs
      $0.rtpTimestamp = frame.message.rtpTimestamp
      $0.revision = frame.selection.revision.number
      $0.disposition =
        switch disposition {
        case .filtered: .filtered
        case .passedThrough: .passedThrough
        }
      $0.unmodified = isUnmodified
      $0.timing.queueUs = (started - frame.received).wireMicroseconds
      $0.timing.processUs = (self.engine.clock.now() - started).wireMicroseconds
      $0.tags = frame.message.tags
      if let failure { $0.failure = Google_Rpc_Status(failure) }
    }
  }
}
