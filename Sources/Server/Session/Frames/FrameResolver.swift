import GRPCCore
import GRPCProtobuf
import Logging
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Gives the frames of a session their outcomes: ends a frame's span, releases its input slot, and
/// resolves its entry in the outcome queue. The reader and the worker share it.
struct FrameResolver: Sendable {
  let outcomes: Session.FrameOutcomeQueue
  let handle: SessionHandle
  let options: SessionOptions
  let output: EncodedOutput
  let outputs: [SessionOutput]
  /// The session's shared memory, or `nil` if pixels travel inline.
  let ring: SessionRing?
  let quality: SessionQuality
  let pool: BufferPool
  let clock: SessionClock
  private let outputOrder = OutputOrder()
  /// The files in a row that could not be decoded although their headers were valid.
  let decodingErrors = ConsecutiveErrorCounter()

  /// Returns the shared memory for a frame's result. Results travel the same way as their frames:
  /// `nil` if the frame's pixels were inline.
  func ring(for frame: IncomingFrame) -> SessionRing? {
    frame.message.image.isInSlot ? self.ring : nil
  }

  /// Whether results are read by compositions or named outputs too.
  var sharesResults: Bool { !self.outputs.isEmpty || self.handle.results.isRead }

  // MARK: Dropped frames

  /// Drops a frame that did not reach the mailbox.
  func drop(
    _ reservation: Session.FrameOutcomeQueue.Reservation, _ span: FrameSpan, _ drop: Drop
  ) {
    span.end(dropped: drop)
    self.handle.logger.log(drop)
    self.resolve(reservation.arrival, dropped: drop)
  }

  /// Drops a frame that will not be filtered, or whose filters failed.
  func drop(_ frame: IncomingFrame, _ drop: Drop) {
    frame.span.end(dropped: drop)
    self.handle.logger.log(drop, sequence: frame.message.sequence)
    // Analyses that wait for the frame's samples decode the file themselves.
    frame.samples?.resolve(.abandoned)
    let lateness = drop.reason == .lateInPipeline ? self.lateness(of: frame) : .zero
    self.resolve(frame.arrival, dropped: drop, lateness: lateness)
    switch (drop.reason, drop.stage) {
    case (.lateInPipeline, _), (.superseded, .mailbox), (.queueFull, _): self.quality.recordLost()
    default: break
    }
  }

  /// Drops a frame whose file cannot be decoded although its header is valid, under any failure
  /// policy.
  func drop(_ frame: IncomingFrame, undecodable violation: FieldViolation) {
    let violation = violation.within("frame.image")
    self.decodingErrors.count(violation)
    self.drop(frame, Drop(reason: .invalidFrame, stage: .pipeline, diagnostic: violation.status))
  }

  private func lateness(of frame: IncomingFrame) -> Duration {
    frame.deadline.map { max(.zero, self.clock.now() - $0) } ?? .zero
  }

  // MARK: Reports

  /// Sends the result of an analysis of a frame, or the report of a scene stage.
  func send(
    _ values: [String: AnalysisValue], stage: String, filter: String, of frame: IncomingFrame
  ) {
    let age = self.clock.now() - frame.received
    self.outcomes.pushNotice { _ in
      .message(
        .with {
          $0.analysis = Sidelight_V1_Analysis(values)
          $0.analysis.sequence = frame.message.sequence
          $0.analysis.stage = stage
          $0.analysis.filter = filter
          $0.analysis.ageUs = age.wireMicroseconds
        })
    }
  }

  // MARK: Finished frames

  /// Sends a frame back unchanged, or a note that it did not change.
  ///
  /// - Parameters:
  ///   - failure: The reason why a frame that should have been filtered comes back unchanged.
  ///   - started: The time at which the session began to work on it.
  func passThrough(
    _ frame: IncomingFrame, failure: GoogleRPCStatus? = nil, started: Duration
  ) {
    var outcome = frame.outcome(.passedThrough, failure: failure)
    guard self.outputs.isEmpty else {
      outcome.image.pixels = nil
      return self.finish(
        frame, .bare(outcome), byteCount: 0, .passedThrough, frame.picture, started: started)
    }
    guard !self.options.open.allowUnmodified, !self.options.open.analysisOnly else {
      outcome.image.pixels = nil
      outcome.unmodified = true
      // A session that only analyses has no results.
      return self.finish(
        frame, .bare(outcome), byteCount: 0, .passedThrough,
        self.options.open.analysisOnly ? nil : frame.picture, started: started)
    }
    if case .video(let picture) = frame.picture {
      return self.passThrough(frame, picture, outcome, started: started)
    }
    // A frame in shared memory comes back in its own slot.
    guard !frame.message.image.isInSlot else {
      return self.finish(
        frame, .bare(outcome), byteCount: frame.picture.bytes.byteCount, .passedThrough,
        frame.picture, started: started)
    }
    do {
      let picture = try OutgoingPicture(passing: frame.picture.bytes, outcome: outcome)
      self.finish(
        frame, picture.content, byteCount: picture.byteCount, .passedThrough, frame.picture,
        started: started)
    } catch {
      self.drop(frame, unreturnable: error)
    }
  }

  /// Sends a picture of a stream back unchanged where the receiver can decode it, and its samples
  /// where results are not encoded.
  private func passThrough(
    _ frame: IncomingFrame, _ picture: EncodedPicture, _ outcome: Sidelight_V1_FilteredFrame,
    started: Duration
  ) {
    guard let samples = picture.frame else {
      preconditionFailure("a picture of a stream is decoded in the order of arrival")
    }
    do {
      let result: OutgoingPicture
      if let codec = self.output.shape.delivery(of: picture.form).coding.codec {
        result = OutgoingPicture(
          unencoded: UnencodedPicture(samples, as: codec, of: frame, source: picture),
          outcome: outcome)
      } else {
        result = try OutgoingPicture(
          shapedAs: samples.geometry, orientation: samples.orientation, outcome: outcome)
        samples.copyPacked(into: result.frame.buffer)
      }
      self.finish(frame, result, .passedThrough, started: started)
    } catch {
      self.drop(frame, unreturnable: error)
    }
  }

  /// Drops a frame that cannot be sent back.
  private func drop(_ frame: IncomingFrame, unreturnable error: any Error) {
    frame.span.record(error)
    let status = GoogleRPCStatus(
      code: .internalError, message: "The frame cannot be sent back: \(error)")
    self.drop(frame, Drop(reason: .stageFailed, stage: .pipeline, diagnostic: status))
  }

  /// Finishes a frame with a picture.
  ///
  /// - Parameter started: The time at which the session began to work on it.
  func finish(
    _ frame: IncomingFrame, _ picture: OutgoingPicture, _ disposition: FrameDisposition,
    started: Duration
  ) {
    self.finish(
      frame, picture.content, byteCount: picture.byteCount, disposition,
      picture.samples.map { .frame($0) }, started: started)
  }

  /// - Parameter result: The picture, for named outputs and compositions.
  private func finish(
    _ frame: IncomingFrame, _ content: OutgoingFrame.Content, byteCount: Int,
    _ disposition: FrameDisposition, _ result: IncomingPicture? = nil, started: Duration
  ) {
    // An override applies to every frame that has not been written, whichever pipeline filtered it.
    // So it does to the pictures that a composed frame shows.
    guard frame.activePipeline.isOverride || !self.handle.isOverridden,
      frame.composition?.arePermitted != false
    else {
      return self.drop(frame, Drop(reason: .superseded, stage: .pipeline))
    }
    let timing = Sidelight_V1_FrameTiming.with {
      $0.queueUs = (started - frame.received).wireMicroseconds
      $0.processUs = (self.clock.now() - started).wireMicroseconds
    }
    self.ring?.release(inputOf: frame.arrival)
    // An outcome without pixels is never late.
    let stays = frame.message.mustProcess || (!self.outputs.isEmpty && result != nil)
    let finished = FinishedFrame(
      sequence: frame.message.sequence, disposition: disposition,
      revision: frame.activePipeline.revision, byteCount: byteCount,
      deadline: stays ? nil : frame.deadline, mustStay: stays,
      payload: OutgoingFrame(
        content: content, timing: timing, received: frame.received,
        isOverride: frame.activePipeline.isOverride, composition: frame.composition,
        span: frame.span))
    guard !self.outputs.isEmpty, let result, case .bare(let outcome) = content else {
      let shown = result.flatMap { self.lasting($0, of: frame, content) }
      guard self.outcomes.resolve(frame.arrival, finished: finished) else { return }
      self.log(finished)
      if let shown { self.handle.results.publish(shown, revision: finished.revision.number) }
      return
    }
    self.outputOrder.withLock {
      // A custom filter can return after the frame has got its outcome.
      guard self.outcomes.resolve(frame.arrival, finished: finished) else { return }
      self.log(finished)
      self.handle.results.publish(result, revision: finished.revision.number)
      for output in self.outputs { output.offer(frame, result, outcome, disposition) }
    }
  }

  private func log(_ finished: FinishedFrame<OutgoingFrame>) {
    let timing = finished.payload.timing
    self.handle.logger.trace(
      "frame finished",
      metadata: [
        "sequence": "\(finished.sequence)", "disposition": "\(finished.disposition)",
        "queue_us": "\(timing.queueUs)", "process_us": "\(timing.processUs)",
      ])
  }

  /// Returns a result that compositions may keep, or `nil` if none reads it. A slot of shared memory
  /// belongs to the client once the outcome is sent.
  private func lasting(
    _ result: IncomingPicture, of frame: IncomingFrame, _ content: OutgoingFrame.Content
  ) -> IncomingPicture? {
    guard self.handle.results.isRead else { return nil }
    let isOutputInSlot = if case .slot = content { true } else { false }
    guard isOutputInSlot || frame.isInSharedMemory, case .frame(let samples) = result else {
      return result
    }
    return .frame(samples.copy(in: self.pool))
  }

  // MARK: The entry in the queue

  /// Resolves a frame as dropped. Its slot belongs to the client from the outcome on.
  private func resolve(_ arrival: UInt64, dropped drop: Drop, lateness: Duration = .zero) {
    self.ring?.release(inputOf: arrival)
    self.outcomes.resolve(arrival, dropped: drop, lateness: lateness)
  }
}

/// Keeps the named outputs in the order of the session's outcomes: a custom filter may return on
/// another thread while the worker ends its frame, after a timeout, and goes on with the next.
private final class OutputOrder: Sendable {
  private let state = Mutex(())

  /// Calls a function that gives a frame its outcome and offers it to the outputs.
  func withLock(_ body: () -> Void) {
    self.state.withLock { _ in body() }
  }
}

/// Counts errors in a row.
final class ConsecutiveErrorCounter: Sendable {
  private let state = Mutex<(count: Int, last: FieldViolation?)>((0, nil))

  func count(_ violation: FieldViolation) {
    self.state.withLock { $0 = ($0.count + 1, violation) }
  }

  /// Starts again from zero, after a success.
  func reset() {
    self.state.withLock { $0 = (0, nil) }
  }

  /// Returns the last error after more than `limit` consecutive ones.
  func last(ifMoreThan limit: Int) -> FieldViolation? {
    self.state.withLock { $0.count > limit ? $0.last : nil }
  }
}

extension Sidelight_V1_Analysis {
  /// Puts the values of a result into the fields of their kinds.
  fileprivate init(_ values: [String: AnalysisValue]) {
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
