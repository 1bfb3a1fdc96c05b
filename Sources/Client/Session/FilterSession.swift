import GRPCCore
public import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization
import Tracing

/// One participant's track at a server: frames go in, each has exactly one outcome, in order.
///
/// One task sends frames, one task reads ``outcomes`` (or ``events``, of which outcomes are a part).
/// Whoever does not read outcomes is sent no more than the window holds: a frame's credit comes back
/// when its outcome is taken.
public final class FilterSession: Sendable {
  typealias Link = (window: SendWindow<OutgoingFrame, Control>, ledger: Ledger)
  typealias Ledger = OutcomeLedger<OutgoingFrame, SessionEvent>

  /// A message that is no frame.
  enum Control: Sendable {
    case select(Pipeline, requestID: UInt64)
  }

  private struct State {
    var nextSequence: UInt64 = 1
    var nextRequestID: UInt64 = 1
    var opened: Result<Sidelight_V1_Opened, any Error>?
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let window: SendWindow<OutgoingFrame, Control>
  let ledger = Ledger()
  private let pool: BufferPool
  private let tracer: any Tracer
  private let state = Mutex(State())

  init(policy: SessionOptions.DropPolicy, pool: BufferPool, tracer: any Tracer) {
    self.window = SendWindow(policy: policy)
    self.pool = pool
    self.tracer = tracer
  }

  // MARK: For callers

  /// The session's name at the server, for logs and operators.
  public var id: String { (try? self.state.withLock { $0.opened }?.get())?.sessionID ?? "" }

  /// Sends a frame. With ``SessionOptions/DropPolicy/newestWins`` it never waits: if the window is
  /// shut, the frame takes the place of the one that waits. With the other policies it waits for room.
  ///
  /// - Returns: The frame's number, which its outcome carries; `nil` if the session is over.
  @discardableResult
  public func send(_ frame: VideoFrame) async -> UInt64? {
    let sequence = self.state.withLock { state in
      defer { state.nextSequence += 1 }
      return state.nextSequence
    }
    let outgoing = OutgoingFrame(
      sequence: sequence, frame: frame, trace: self.trace(of: frame), given: .now)
    self.ledger.add(outgoing, sequence: sequence)
    switch await self.window.offer(outgoing) {
    case .accepted(let displaced):
      if let displaced { self.ledger.displace(displaced.sequence) }
      return sequence
    case .refused:
      self.ledger.displace(sequence)
      return nil
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

  /// Replaces the pipeline, for the frames that are sent after it. Whether the server accepts it, and
  /// from which frame on, ``events`` tell.
  ///
  /// - Returns: The number that ``SessionEvent/applied(revision:requestID:)`` or
  ///   ``SessionEvent/rejected(requestID:reason:)`` carries.
  @discardableResult
  public func select(_ pipeline: Pipeline) -> UInt64 {
    let requestID = self.state.withLock { state in
      defer { state.nextRequestID += 1 }
      return state.nextRequestID
    }
    self.window.push(.select(pipeline, requestID: requestID))
    return requestID
  }

  /// Says that there are no more frames. What was sent is finished. Later calls do nothing.
  public func finish() {
    self.window.finish()
  }

  /// Everything that the session tells, in order. Iterate once, from one task.
  ///
  /// Ends when the session has ended as it should; throws `RPCError` if it has not.
  public var events: some AsyncSequence<SessionEvent, any Error> & Sendable {
    SessionEvents(session: self)
  }

  /// What became of the frames, in order: ``events`` without the others. Iterate one of the two.
  public var outcomes: some AsyncSequence<FrameOutcome, any Error> & Sendable {
    self.events.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
  }

  // MARK: For the client

  /// - Throws: Why the server refused the session.
  func waitUntilOpened() async throws {
    await withCheckedContinuation { continuation in
      let waits = self.state.withLock { state in
        guard state.opened == nil else { return false }
        state.waiting = continuation
        return true
      }
      if !waits { continuation.resume() }
    }
    _ = try self.state.withLock { $0.opened }?.get()
  }

  /// Writes what is given, until no more is given.
  func send(
    to writer: RPCWriter<Sidelight_V1_ClientMessage>, opening options: SessionOptions
  ) async throws {
    try await writer.write(.with { $0.open = Sidelight_V1_Open(options) })
    while let element = await self.window.next() {
      switch element {
      case .frame(let frame):
        try await writer.write(.with { $0.frame = frame.message })
      case .control(.select(let pipeline, let requestID)):
        try await writer.write(
          .with {
            $0.select.pipeline = Sidelight_V1_Pipeline(pipeline)
            $0.select.requestID = requestID
          })
      }
    }
  }

  /// Reads what the server says, until it says no more.
  func receive(
    _ messages: RPCAsyncSequence<Sidelight_V1_ServerMessage, any Error>
  ) async throws {
    for try await message in messages {
      switch message.kind {
      case .opened(let opened)?: self.open(.success(opened))
      case .frame(let frame)?: try self.receive(frame)
      case .dropped(let dropped)?: self.receive(dropped)
      case .applied(let applied)?:
        self.ledger.tell(.applied(revision: applied.revision, requestID: applied.requestID))
      case .error(let error)?:
        self.ledger.tell(.rejected(requestID: error.requestID, reason: error.status.message))
      case .state(let state)? where state.state == .draining: self.ledger.tell(.draining)
      case .stats(let stats)? where stats.final:
        self.ledger.tell(.finalCounts(SessionCounts(stats)))
      case .stats?, .state?, .analysis?, .advice?, .pong?, nil: break
      }
    }
  }

  /// The session is over.
  func end(_ result: Result<Void, any Error>) {
    // Without effect if the session was opened.
    switch result {
    case .failure(let error): self.open(.failure(error))
    case .success:
      self.open(.failure(RPCError(code: .unavailable, message: "The session ended unopened.")))
    }
    self.window.cancel()
    self.ledger.finish(result)
  }

  /// Whoever consumes outcomes has taken one.
  func returnCredit() {
    self.window.addCredits(1)
  }

  // MARK: Within

  private func open(_ result: Result<Sidelight_V1_Opened, any Error>) {
    let waiting = self.state.withLock { state in
      if state.opened == nil { state.opened = result }
      return state.waiting.take()
    }
    if case .success(let opened) = result {
      self.window.addCredits(max(1, Int(opened.framesInFlight)))
    }
    waiting?.resume()
  }

  private func receive(_ message: Sidelight_V1_FilteredFrame) throws {
    guard let sent = self.ledger.pending(message.sequence) else { return }
    let picture =
      message.unmodified
      ? sent.frame.picture
      : try message.image.makeFrame(limits: .everything, pool: self.pool)
    self.ledger.resolve(
      message.sequence,
      .outcome(
        .made(MadeFrame(message, picture: picture, roundTrip: sent.given.duration(to: .now)))))
  }

  private func receive(_ message: Sidelight_V1_Dropped) {
    guard message.firstSequence <= message.lastSequence else { return }
    for sequence in self.ledger.pending(in: message.firstSequence ... message.lastSequence) {
      self.ledger.resolve(
        sequence, .outcome(.dropped(DroppedFrame(message, sequence: sequence))))
    }
  }

  private func trace(of frame: VideoFrame) -> Sidelight_V1_TraceContext? {
    if let traceparent = frame.traceparent { return .with { $0.traceparent = traceparent } }
    guard let context = ServiceContext.current else { return nil }
    var trace = Sidelight_V1_TraceContext()
    self.tracer.inject(context, into: &trace, using: TraceContextInjector())
    return trace.traceparent.isEmpty ? nil : trace
  }
}
