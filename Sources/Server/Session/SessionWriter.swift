import GRPCCore
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// Sends what the outbox puts in order.
struct SessionWriter {
  let session: Session
  /// Where large messages are left until the transport writes them; `nil`: it copies them.
  let deposits: OutboundMessageStore.CallMessages?

  /// Runs until the outbox is finished and empty, or writing fails because the client is gone.
  func run(_ writer: RPCWriter<OutgoingMessage<Sidelight_V1_ServerMessage>>) async throws {
    let clock = self.session.engine.clock
    while let item = await self.session.outbox.next() {
      switch item {
      case .control(.message(var message)):
        if case .pong? = message.kind {
          message.pong.serverSentNs = Int64(clamping: clock.nanosecondsSince1970())
        }
        try await writer.write(.message(message))
      case .control(.state):
        try await writer.write(.message(.with { $0.state = self.session.handle.takeState() }))
      case .applied(let revision, let firstSequence):
        try await writer.write(
          .message(
            .with {
              $0.applied.revision = revision.number
              $0.applied.requestID = revision.requestID
              $0.applied.firstSequence = firstSequence
              $0.applied.resumeToken = self.session.handle.resumeToken()
            }))
      case .frame(let made):
        var frame = made.payload
        let total = clock.now() - frame.received
        frame.timing.totalUs = total.wireMicroseconds
        self.session.handle.note(total: total)
        if case .slot(_, let slot) = frame.content {
          self.session.ring?.handOver(slot, sequence: made.sequence)
        }
        try await writer.write(frame.message(leavingAt: self.deposits))
        frame.span.end(made: made.disposition)
      case .dropped(let run):
        try await writer.write(.message(.with { $0.dropped = Sidelight_V1_Dropped(run) }))
      case .finalCounts(let counts):
        try await writer.write(
          .message(.with { $0.stats = Sidelight_V1_Stats(counts, isFinal: true) }))
      }
    }
  }
}
