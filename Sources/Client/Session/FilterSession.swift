public import SidelightKernels
import SidelightTransport
import SidelightWire
import Synchronization
import Tracing

/// A session at a server. It accepts frames and returns exactly one outcome per frame, in order.
///
/// The common case is one loop:
///
/// ```swift
/// for try await frame in session.filter(camera) { show(frame.picture) }
/// ```
///
/// A program that needs the outcomes of dropped frames, or other events, sends frames from its own
/// tasks and reads ``outcomes`` or ``events`` in one task. A session whose outcomes are not read
/// stops sending once the window is full: a frame's credit returns when its outcome is taken.
///
/// With ``SessionOptions/reconnect`` a session survives the loss of its connection: it is the same
/// object, with the same frame numbers, before and after.
public final class FilterSession: Sendable {
  let flow: SessionFlow
  let clock: SessionClock
  private let tracer: any Tracer
  /// An executor on the thread that carries the session's connection. A task that prefers it reads
  /// outcomes and sends frames without a change of thread:
  ///
  /// ```swift
  /// try await withTaskExecutorPreference(session.executor) {
  ///   for try await outcome in session.outcomes { relay(outcome) }
  /// }
  /// ```
  ///
  /// Use it only for tasks that pass frames on: long work delays all sessions of that thread. The
  /// executor ends with the client. If sessions share connections
  /// (`TransportConfiguration.connections`), it may be another thread than the connection's, and
  /// then doesn't save a change.
  public let executor: any TaskExecutor

  init(
    options: SessionOptions, clock: SessionClock, tracer: any Tracer, executor: any TaskExecutor
  ) {
    self.executor = executor
    self.flow = SessionFlow(options: options, clock: clock)
    self.clock = clock
    self.tracer = tracer
  }

  /// The session's name at the server, for logs and operators. Changes with the connection.
  public var id: String { self.flow.id }

  /// The outcomes so far, by kind.
  public var counts: OutcomeCounts { self.flow.counts }

  /// Whether pixels travel in shared memory: the server is on the same host and offers it.
  public var usesSharedMemory: Bool { self.flow.ring != nil }

  // MARK: Sending

  /// Creates a frame whose pixels are sent without a copy: in shared memory, if the session uses it
  /// and a slot is free; otherwise in memory that the transport sends from.
  ///
  /// The frame occupies its slot until the last reference to it is released, so create it when its
  /// pixels are about to be written, and release it when it is sent. It may be sent to any session.
  ///
  /// - Throws: `FrameLayoutError` for an invalid size.
  public func makeFrame(
    _ geometry: FrameGeometry, orientation: Orientation = .upright
  ) throws(FrameLayoutError) -> MutableFrame {
    if let ring = self.flow.ring,
      let frame = ring.makeFrame(geometry, orientation: orientation)
    {
      return frame
    }
    let layout = try FrameLayout(packed: geometry.format, size: geometry.size)
    return MutableFrame(
      layout: layout, color: geometry.color, orientation: orientation,
      buffer: PixelBuffer(transportable: layout.byteCount))
  }

  /// Sends a frame. With `DropPolicy.newestWins` it never waits: without credit the frame replaces
  /// the waiting one, and while disconnected its outcome is `DropReason.disconnected`. With the
  /// other policies it waits for capacity.
  ///
  /// Frames of encoded video on which others depend are not replaced. If more than 8 of them would
  /// wait, all are dropped, frames up to the next key frame are dropped as
  /// `DropReason.notDecodable`, and ``SessionEvent/keyFrameNeeded(_:)`` asks for a key frame. The
  /// same happens after the connection was lost.
  ///
  /// May be called from several tasks; frames are numbered in the order in which they are accepted.
  /// Cancelling the task only ends this call's wait.
  ///
  /// - Returns: The frame's number, which its outcome carries, or `nil` if the frame was not
  ///   accepted because the session is over or the task is cancelled. The frame then has no outcome
  ///   and is not counted.
  @discardableResult
  public func send(_ frame: VideoFrame) async -> UInt64? {
    let trace = self.trace(of: frame)
    let submitted = self.clock.now()
    return await self.flow.offer(
      as: frame.picture.role, mustProcess: frame.mustProcess
    ) { sequence in
      OutgoingFrame(sequence: sequence, frame: frame, trace: trace, submitted: submitted)
    }
  }

  /// Whether a frame is sent at once, rather than waits for a credit.
  var hasCredit: Bool { self.flow.state.withLock { $0.window.sendsAtOnce } }

  /// Sends the frames of a sequence, then calls ``finish()``.
  ///
  /// - Throws: The error of the sequence.
  public func send<Frames: AsyncSequence>(contentsOf frames: Frames) async throws
  where Frames.Element == VideoFrame {
    for try await frame in frames {
      guard await self.send(frame) != nil else { return }
    }
    self.finish()
  }

  /// Refuses further frames and ends the session when all sent frames have their outcomes. Later
  /// calls have no effect.
  public func finish() {
    self.flow.finish()
  }

  /// Whether a picture is in the shared memory of the current connection.
  package func isInSharedMemory(_ picture: Frame) -> Bool {
    self.flow.ring?.holds(picture) ?? false
  }

  /// Whether a picture is in the shared memory of the current connection.
  package func isInSharedMemory(_ picture: VideoPicture) -> Bool {
    picture.frame.map { self.isInSharedMemory($0) } ?? false
  }

  private func trace(of frame: VideoFrame) -> Sidelight_V1_TraceContext? {
    if let traceparent = frame.traceparent {
      var trace = Sidelight_V1_TraceContext()
      trace.traceparent = traceparent
      return trace
    }
    guard let context = ServiceContext.current else { return nil }
    var trace = Sidelight_V1_TraceContext()
    self.tracer.inject(context, into: &trace, using: TraceContextInjector())
    return trace.traceparent.isEmpty ? nil : trace
  }
}

/// The round trip to the server and the offset of its clock, as a ping measured them.
public struct ClockReading: Sendable, Hashable {
  /// The time from sending the ping to the arrival of the answer, without the time at the server.
  public var roundTripTime: Duration
  /// The time by which the server's clock is ahead of this machine's, if both directions take
  /// equally long: `((t1 - t0) + (t2 - t3)) / 2`, as in RFC 5905, section 8. Wrong by at most half
  /// the round trip.
  public var clockOffset: Duration

  /// - Parameters: Nanoseconds since 1970; `sent` and `arrived` on the client's clock, the others
  ///   on the server's.
  package init(sent: Int64, serverReceived: Int64, serverSent: Int64, arrived: Int64) {
    let there = Duration.nanoseconds(serverReceived) - .nanoseconds(sent)
    let back = Duration.nanoseconds(serverSent) - .nanoseconds(arrived)
    self.roundTripTime = there - back
    self.clockOffset = (there + back) / 2
  }
}
