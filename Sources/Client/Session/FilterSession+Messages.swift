import Foundation
import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FilterSession {
  /// Writes `open`, then what is given, until no more is given or the connection is gone.
  func send(
    to writer: RPCWriter<OutgoingMessage<Sidelight_V1_ClientMessage>>,
    opening open: Sidelight_V1_Open
  ) async throws {
    try await writer.write(.message(.with { $0.open = open }))
    while let element = await self.flow.nextMessage() {
      switch element {
      case .frame(let frame): try await writer.write(.envelope(try frame.envelope()))
      case .control(let control):
        try await writer.write(.message(control.message(at: self.clock.nanosecondsSince1970())))
      case .acknowledgement(let sequence):
        try await writer.write(.message(.with { $0.ack.sequence = sequence }))
      }
    }
  }

  /// Reads what the server says, until it says no more.
  ///
  /// - Parameter opened: Told when the session stands.
  func receive(
    _ messages: RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ServerMessage>, any Error>,
    opened: (Sidelight_V1_Opened) -> Void
  ) async throws {
    for try await received in messages {
      self.flow.hear()
      switch received.message.kind {
      case .opened(let message)?: opened(message)
      case .frame(let frame)?: try self.receive(frame, received.pixels)
      case .dropped(let dropped)?: self.receive(dropped)
      case .applied(let applied)?:
        self.flow.apply(AppliedChange(applied), token: applied.resumeToken)
      case .error(let error)?: self.flow.reject(RejectedChange(error))
      case .state(let state)?: self.flow.note(SessionState(state), token: state.resumeToken)
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
    guard let sent = self.flow.pending(message.sequence) else { return }
    let picture =
      message.unmodified
      ? sent.frame.picture
      : try VideoPicture(message.image, over: pixels)
    self.flow.resolve(
      MadeFrame(message, picture: picture, roundTrip: self.clock.now() - sent.given))
  }

  private func receive(_ message: Sidelight_V1_Dropped) {
    guard message.firstSequence <= message.lastSequence else { return }
    self.flow.resolve(message.firstSequence ... message.lastSequence) { sequence in
      DroppedFrame(message, sequence: sequence)
    }
  }
}

extension VideoPicture {
  /// The picture that came.
  ///
  /// - Throws: `FieldFault` for an image that contradicts its pixels.
  fileprivate init(_ image: Sidelight_V1_Image, over pixels: PixelBuffer?) throws {
    guard image.format == .jpeg, let pixels else {
      self = .frame(try image.frame(over: pixels, limits: .everything))
      return
    }
    let file = withExtendedLifetime(pixels) { [UInt8](UnsafeRawBufferPointer(pixels.bytes)) }
    self = .jpeg(file, orientation: try Orientation(image.orientation))
  }
}
