import DequeModule
import GRPCCore
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Sends the items of an outcome queue to the client: of the session's, or of a named output's.
struct SessionWriter {
  private let session: Session
  /// The named output; `nil` for the session's own outcomes.
  private let output: SessionOutput?
  private let outcomes: Session.FrameOutcomeQueue
  private let callMessages: OutboundMessageStore.CallMessages?
  private let video: VideoWriter

  /// - Parameter callMessages: The store for large messages until they are written; `nil` copies
  ///   them.
  init(
    session: Session, output: SessionOutput? = nil,
    callMessages: OutboundMessageStore.CallMessages?
  ) {
    self.session = session
    self.output = output
    self.outcomes = output?.outcomes ?? session.outcomes
    self.callMessages = callMessages
    self.video = VideoWriter(session: session, output: output)
  }

  /// Runs until the outcome queue is finished and empty, or writing fails because the client has
  /// disconnected.
  func run(_ writer: SerialWriter) async throws {
    while let item = await self.outcomes.next() {
      switch item {
      case .control(.message(let message)):
        try await writer.write(.message(self.stamped(message)))
      case .control(.state):
        try await writer.write(.message(.with { $0.state = self.session.handle.dequeueState() }))
      // The session's own writer announces revisions and the final counts.
      case .applied where self.output != nil, .finalCounts where self.output != nil: break
      case .applied(let revision, let firstSequence):
        try await writer.write(
          .message(
            .with {
              $0.applied.revision = revision.number
              $0.applied.requestID = revision.requestID
              $0.applied.firstSequence = firstSequence
              $0.applied.resumeToken = self.session.handle.resumeToken()
            }))
      case .frame(let finished):
        try await self.write(finished, to: writer)
      case .dropped(let run):
        try await writer.write(self.message(of: run))
      case .finalCounts(let counts):
        try await writer.write(
          .message(.with { $0.stats = self.session.handle.stats(counts, isFinal: true) }))
      }
    }
  }

  /// Writes a finished frame, encoded if the output is video; or its drop, if it cannot be encoded.
  private func write(
    _ finished: FinishedFrame<OutgoingFrame>, to writer: SerialWriter
  ) async throws {
    var finished = finished
    var encodedByteCount: Int?
    if case .unencoded(let picture, let outcome) = finished.payload.content {
      do {
        let encoded = try await self.video.picture(picture, of: finished, outcome)
        finished.payload.content = encoded.content
        encodedByteCount = encoded.byteCount
      } catch let error as CancellationError {
        throw error
      } catch {
        let drop = Drop(videoFailure: error)
        let lateness = (error as? VideoWriter.Late)?.lateness
        if self.output == nil {
          finished.payload.span.end(dropped: drop)
          if lateness != nil { self.session.quality.recordLost() }
        }
        if lateness != nil { self.session.handle.logger.log(drop, sequence: finished.sequence) }
        let run = self.outcomes.withdraw(finished, as: drop, lateness: lateness ?? .zero)
        return try await writer.write(self.message(of: run))
      }
    }
    let (session, outcomes) = (self.session, self.outcomes)
    if self.output == nil, finished.payload.composition?.arePermitted == false {
      return try await self.discard(finished, writer)
    }
    guard self.output != nil else {
      encodedByteCount.map(outcomes.countEncoded)
      try await writer.write(self.message(of: finished))
      return finished.payload.span.end(finished: finished.disposition)
    }
    var isWritten = false
    try await writer.write {
      // An operator may have forbidden the picture while other outputs were written.
      guard session.mayWrite(finished, from: outcomes) else { return nil }
      isWritten = true
      encodedByteCount.map(outcomes.countEncoded)
      session.rateLimiter.charge(byteCount: encodedByteCount ?? finished.byteCount)
      return self.message(of: finished)
    }
    if !isWritten { try await self.discard(finished, writer) }
  }

  /// Writes the drop of a finished frame that may not be shown any more.
  private func discard(
    _ finished: FinishedFrame<OutgoingFrame>, _ writer: SerialWriter
  ) async throws {
    let drop = Drop(reason: .outputSuperseded, stage: .outbox)
    self.video.discard()
    if self.output == nil { finished.payload.span.end(dropped: drop) }
    let run = self.outcomes.withdraw(finished, as: drop)
    try await writer.write(self.message(of: run))
  }

  private func message(of run: DropRun) -> SerialWriter.Message {
    .message(
      .with {
        $0.dropped = Sidelight_V1_Dropped(run)
        $0.dropped.output = self.output?.name ?? ""
      })
  }

  /// Returns the message; a pong with the time at which it is sent.
  private func stamped(_ message: Sidelight_V1_ServerMessage) -> Sidelight_V1_ServerMessage {
    guard case .pong? = message.kind else { return message }
    var message = message
    message.pong.serverSentNs =
      Int64(clamping: self.session.engine.clock.nanosecondsSince1970())
    return message
  }

  /// Completes a finished frame's timing and transfers its output slot to the client.
  private func message(
    of finished: FinishedFrame<OutgoingFrame>
  ) -> OutgoingMessage<Sidelight_V1_ServerMessage> {
    var frame = finished.payload
    let total = self.session.engine.clock.now() - frame.received
    frame.timing.totalUs = total.wireMicroseconds
    if self.output == nil { self.session.handle.recordLatency(total: total) }
    if case .slot(_, let slot) = frame.content {
      self.session.ring?.transfer(slot, sequence: finished.sequence)
    }
    return frame.message(storedIn: self.callMessages)
  }
}

extension Session {
  /// Returns whether a finished frame may still be written: an operator has not forbidden it since it
  /// was taken from its queue.
  func mayWrite(
    _ frame: FinishedFrame<OutgoingFrame>, from outcomes: FrameOutcomeQueue
  ) -> Bool {
    outcomes.mayWrite(frame) && (frame.payload.isOverride || !self.handle.isOverridden)
      && frame.payload.composition?.arePermitted != false
  }
}

/// A message of a session that is not a frame's outcome, as it waits in the outcome queue.
enum OutgoingNotice: Sendable {
  /// The message itself.
  case message(Sidelight_V1_ServerMessage)
  /// The state of the session at the time of writing. At most one waits.
  case state
}

/// A writer of a call's messages for several tasks: one message at a time, in the order in which
/// they are requested.
final class SerialWriter: Sendable {
  typealias Message = OutgoingMessage<Sidelight_V1_ServerMessage>

  private struct State {
    var isWriting = false
    var waiting: Deque<CheckedContinuation<Void, Never>> = []
  }

  private let writer: RPCWriter<Message>
  private let state = Mutex(State())

  init(_ writer: RPCWriter<Message>) {
    self.writer = writer
  }

  func write(_ message: Message) async throws {
    try await self.write { message }
  }

  /// Writes the message that a function returns when it is its turn.
  ///
  /// - Parameter message: Returns `nil` if the message must not be written any more.
  func write(_ message: () throws -> Message?) async throws {
    await self.begin()
    // A task that waits is resumed even after an error: its own write fails too.
    defer { self.end() }
    guard let message = try message() else { return }
    try await self.writer.write(message)
  }

  private func begin() async {
    await withCheckedContinuation { continuation in
      let begins = self.state.withLock { state in
        guard state.isWriting else {
          state.isWriting = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if begins { continuation.resume() }
    }
  }

  private func end() {
    let next = self.state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.isWriting = false }
      return next
    }
    next?.resume()
  }
}
