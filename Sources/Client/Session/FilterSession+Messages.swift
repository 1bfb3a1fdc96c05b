import Foundation
import GRPCCore
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

extension FilterSession {
  /// Writes `open`, then what is given, until no more is given or the connection is gone.
  ///
  /// - Parameter deposits: Where large messages are left until they are written.
  func send(
    to writer: RPCWriter<OutgoingMessage<Sidelight_V1_ClientMessage>>,
    opening open: Sidelight_V1_Open, leavingAt deposits: OutboundMessageStore.CallMessages
  ) async throws {
    try await writer.write(.message(.with { $0.open = open }))
    while let element = await self.flow.nextMessage() {
      switch element {
      case .frame(let frame):
        let ring = self.ring.withLock { $0 }
        // Before the server makes another picture it should know which slots it has.
        if let ack = ring?.takeAcknowledgement() {
          try await writer.write(.message(.with { $0.ack = ack }))
        }
        try await writer.write(try frame.message(ring: ring, leavingAt: deposits))
      case .control(let control):
        try await writer.write(.message(control.message(at: self.clock.nanosecondsSince1970())))
      case .acknowledgement(let sequence):
        let ack =
          self.ring.withLock { $0 }?.acknowledgement(of: sequence)
          ?? .with { $0.sequence = sequence }
        try await writer.write(.message(.with { $0.ack = ack }))
      }
    }
  }

  /// Reads what the server says, until it says no more.
  ///
  /// - Parameter opened: Told when the session stands.
  func receive(
    _ messages: RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ServerMessage>, any Error>,
    opened: (Sidelight_V1_Opened) async -> Void
  ) async throws {
    for try await received in messages {
      // Messages that have arrived are delivered to a cancelled task too.
      try Task.checkCancellation()
      self.flow.hear()
      switch received.message.kind {
      case .opened(let message)?: await opened(message)
      case .frame(let frame)?: try self.receive(frame, received.pixels)
      case .dropped(let dropped)?: self.receive(dropped)
      case .applied(let applied)?:
        self.flow.apply(AppliedChange(applied), token: applied.resumeToken)
      case .error(let error)?: self.flow.reject(RejectedChange(error))
      case .state(let state)?:
        self.flow.note(
          SessionState(state), revision: state.revision, token: state.resumeToken)
      case .stats(let stats)? where stats.final && self.flow.isDrained:
        self.flow.tell(.finalCounts(SessionCounts(stats)))
      case .stats(let stats)?: self.flow.tell(.stats(SessionCounts(stats)), topic: "stats")
      case .advice(let advice)?: self.flow.tell(.advice(Advice(advice)), topic: "advice")
      case .analysis(let analysis)?:
        self.flow.tell(.analysis(Analysis(analysis)), topic: "analysis \(analysis.stage)")
      case .pong(let pong)?:
        self.flow.answerPing(
          pong.id, serverReceived: pong.serverReceivedNs, serverSent: pong.serverSentNs)
      case nil: break
      }
    }
  }

  private func receive(_ message: Sidelight_V1_FilteredFrame, _ pixels: PixelBuffer?) throws {
    let ring = self.ring.withLock { $0 }
    ring?.giveBack(inputsOf: message.sequence ... message.sequence)
    guard let sent = self.flow.pending(message.sequence) else { return }
    let picture =
      if message.unmodified {
        sent.frame.picture
      } else if message.image.isInSlot, let ring {
        try ring.picture(
          of: message.image, for: message.sequence, sent: sent.frame.picture)
      } else {
        try VideoPicture(message.image, over: pixels)
      }
    self.flow.resolve(
      MadeFrame(message, picture: picture, roundTrip: self.clock.now() - sent.given))
  }

  private func receive(_ message: Sidelight_V1_Dropped) {
    guard message.firstSequence <= message.lastSequence else { return }
    let range = message.firstSequence ... message.lastSequence
    self.ring.withLock { $0 }?.giveBack(inputsOf: range)
    self.flow.resolve(range) { sequence in
      DroppedFrame(message, sequence: sequence)
    }
  }
}
