public import SidelightKernels
import SidelightTransport
import SidelightWire
import Synchronization
import Tracing

/// One participant's track at a server: frames go in, each has exactly one outcome, in order.
///
/// Tasks send frames, one task reads ``outcomes`` (or ``events``, of which outcomes are a part).
/// Whoever does not read outcomes is sent no more than the window holds: a frame's credit comes back
/// when its outcome is taken.
///
/// With ``SessionOptions/reconnect`` a session outlives its connections: it is the same object, with
/// the same numbers, before and after.
public final class FilterSession: Sendable {
  let flow: SessionFlow
  let clock: ClientClock
  /// The ring of the connection that stands, if it has one.
  let ring = Mutex<ClientRing?>(nil)
  private let tracer: any Tracer
  /// Runs tasks on the thread that carries the session's connection. One that prefers it takes outcomes and
  /// sends frames without a change of thread:
  ///
  /// ```swift
  /// try await withTaskExecutorPreference(session.executor) {
  ///   for try await outcome in session.outcomes { relay(outcome) }
  /// }
  /// ```
  ///
  /// For tasks that only hand frames on: what takes long there holds up every session of that thread. It ends
  /// with the client. Where sessions share connections (`TransportConfiguration.connections`) it may be another
  /// thread than the connection's, and then nothing is saved.
  public let executor: any TaskExecutor

  init(
    options: SessionOptions, clock: ClientClock, tracer: any Tracer, executor: any TaskExecutor
  ) {
    self.executor = executor
    self.flow = SessionFlow(options: options, clock: clock)
    self.clock = clock
    self.tracer = tracer
  }

  /// The session's name at the server, for logs and operators. Changes with the connection.
  public var id: String { self.flow.id }

  /// What has become of the frames so far.
  public var counts: OutcomeCounts { self.flow.counts }

  /// Whether pixels travel in shared memory: the server is on this host, and offers it.
  public var usesSharedMemory: Bool { self.ring.withLock { $0 != nil } }

  // MARK: Frames

  /// A frame to be written, and then sent, where sending it copies nothing: in shared memory, if the session
  /// uses it and a slot is free; else where the transport sends it from.
  ///
  /// The frame keeps its slot until nobody refers to it any more, so make it when it is about to be
  /// written, and let go of it when it is sent. It may be sent to any session.
  ///
  /// - Throws: `FrameLayoutError` for a size that no frame can have.
  public func makeFrame(
    _ geometry: FrameGeometry, orientation: Orientation = .upright
  ) throws(FrameLayoutError) -> MutableFrame {
    if let ring = self.ring.withLock({ $0 }),
      let frame = ring.makeFrame(geometry, orientation: orientation)
    {
      return frame
    }
    let layout = try FrameLayout(packed: geometry.format, size: geometry.size)
    return MutableFrame(
      layout: layout, color: geometry.color, orientation: orientation,
      buffer: PixelBuffer(transportable: layout.byteCount))
  }

  /// Sends a frame. With ``SessionOptions/DropPolicy/newestWins`` it never waits: if the window is
  /// shut, the frame takes the place of the one that waits, and if there is no connection, it ends as
  /// ``DroppedFrame/Reason/disconnected``. With the other policies it waits for room.
  ///
  /// May be called from several tasks; frames are numbered as they are taken in. Cancelling the task
  /// ends this call's wait, and nothing else.
  ///
  /// - Returns: The frame's number, which its outcome carries; `nil` if it was not taken in, since the
  ///   session is over or the task is cancelled. It then has no outcome and is not counted.
  @discardableResult
  public func send(_ frame: VideoFrame) async -> UInt64? {
    let trace = self.trace(of: frame)
    let given = self.clock.now()
    return await self.flow.offer { sequence in
      OutgoingFrame(sequence: sequence, frame: frame, trace: trace, given: given)
    }
  }

  /// Sends the frames of a sequence, then says that there are no more.
  ///
  /// - Throws: Whatever the sequence throws.
  public func send<Frames: AsyncSequence>(contentsOf frames: Frames) async throws
  where Frames.Element == VideoFrame {
    for try await frame in frames {
      guard await self.send(frame) != nil else { return }
    }
    self.finish()
  }

  /// Says that there are no more frames. What was sent is finished. Later calls do nothing.
  public func finish() {
    self.flow.finish()
  }

  /// Whether a picture lies in the shared memory of the connection that stands.
  package func isInSharedMemory(_ picture: Frame) -> Bool {
    self.ring.withLock { $0 }?.holds(picture) ?? false
  }

  /// Whether a picture lies in the shared memory of the connection that stands.
  package func isInSharedMemory(_ picture: VideoPicture) -> Bool {
    picture.frame.map { self.isInSharedMemory($0) } ?? false
  }

  // MARK: Outcomes

  /// Everything that the session tells, in order. Iterate once, from one task.
  ///
  /// Ends when the session has ended as it should. Throws `RPCError` if it has not, after the outcome
  /// of every frame that was taken in; `CancellationError` if the task is cancelled.
  public var events: some AsyncSequence<SessionEvent, any Error> & Sendable {
    SessionEvents(flow: self.flow)
  }

  /// What became of the frames, in order: ``events`` without the others. Iterate one of the two.
  public var outcomes: some AsyncSequence<FrameOutcome, any Error> & Sendable {
    self.events.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
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
