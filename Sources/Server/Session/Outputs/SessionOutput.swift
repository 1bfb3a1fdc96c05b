import SidelightKernels
import SidelightWire
import Synchronization

/// A named output of a session: takes the results of the session's pipeline, of which the newest
/// wins, and has its own pipeline, worker, outcome queue and writer.
///
/// The session's worker offers a result and goes on. Only under a policy that never drops does it
/// wait for room.
final class SessionOutput: Sendable {
  /// A result of the session's pipeline.
  struct Job: Sendable {
    /// The entry in the output's outcome queue.
    var arrival: UInt64
    /// The frame, with the result as its picture.
    var frame: IncomingFrame
    /// The result's form. Its coding is the one in which the frame arrived.
    var form: PictureForm
    /// The message without the picture.
    var outcome: Sidelight_V1_FilteredFrame
    var disposition: FrameDisposition
  }

  /// The frames that are within the frame rate, by time.
  private struct Schedule {
    let maxFPS: Double
    var decimator: FrameDecimator
    var last: Duration?

    init(maxFPS: Double) {
      self.maxFPS = maxFPS
      self.decimator = FrameDecimator(framesPerSecond: maxFPS)
    }

    mutating func admits(at time: Duration) -> Bool {
      // The schedule begins again if the sender's clock was set back.
      if let last, time < last { self.decimator = FrameDecimator(framesPerSecond: self.maxFPS) }
      self.last = time
      return self.decimator.admits(at: time)
    }
  }

  let name: String
  /// The pipeline that filters the session's results.
  let pipeline: ResolvedPipeline
  /// The frames per second that are not left out. `nil` disables the limit.
  let maxFPS: Double?
  /// The requested form of the output's results.
  let encoded: EncodedOutput
  let mailbox = Mailbox<Job>(evictionPriority: \.frame.evictionPriority)
  let outcomes: Session.FrameOutcomeQueue
  private let schedule: Mutex<Schedule?>

  /// - Parameter pipeline: The output's pipeline, resolved.
  init(
    _ output: NamedOutput, pipeline: ResolvedPipeline, window: Int?,
    now: @escaping @Sendable () -> Duration
  ) {
    self.name = output.name
    self.pipeline = pipeline
    self.maxFPS = output.maxFPS
    self.encoded = EncodedOutput(shape: output.shape, encoder: output.encoder)
    // The next picture is filtered while one waits; the first one after a pause should be fresh for
    // a client that acknowledges.
    self.outcomes = Session.FrameOutcomeQueue(
      pictureLimit: window == nil ? 2 : 1, outputWindow: window, now: now)
    self.schedule = Mutex(output.maxFPS.map { Schedule(maxFPS: $0) })
  }

  /// Offers a result, which displaces the one that waits. Leaves out frames beyond the frame rate.
  ///
  /// - Parameter outcome: The frame's message, without the picture.
  func offer(
    _ frame: IncomingFrame, _ picture: IncomingPicture, _ outcome: Sidelight_V1_FilteredFrame,
    _ disposition: FrameDisposition
  ) {
    guard self.admits(frame) else { return }
    let isFull = !self.outcomes.hasCapacity
    let arrival = self.outcomes.reserve(sequence: frame.message.sequence, byteCount: 0).arrival
    guard !isFull else {
      // The client does not read. Drops in a row for one reason are one notice.
      return self.outcomes.resolve(
        arrival, dropped: Drop(reason: .outputSuperseded, stage: .outbox))
    }
    var form = picture.form
    form.coding = frame.picture.form.coding
    var outcome = outcome
    outcome.output = self.name
    if case .video = frame.picture { outcome.reencoded = disposition == .passedThrough }
    var frame = frame
    frame.picture = picture
    frame.samples = nil
    let job = Job(
      arrival: arrival, frame: frame, form: form, outcome: outcome, disposition: disposition)
    for displaced in self.mailbox.offerAtOnce(job) {
      self.drop(
        displaced.element,
        displaced.reason == .superseded
          ? Drop(reason: .outputSuperseded, stage: .outbox)
          : Drop(reason: displaced.reason, stage: .mailbox))
    }
  }

  func drop(_ job: Job, _ drop: Drop) {
    self.outcomes.resolve(job.arrival, dropped: drop)
  }

  /// Stops accepting results. The remaining ones are not kept back for acknowledgements.
  func finish() {
    self.outcomes.openWindow()
    self.mailbox.finish()
  }

  /// Returns whether a frame is within the frame rate, by its capture time.
  private func admits(_ frame: IncomingFrame) -> Bool {
    let captured = frame.message.captureTimeNs
    let time = captured == 0 ? frame.received : .nanoseconds(captured)
    return self.schedule.withLock { $0?.admits(at: time) ?? true }
  }
}
