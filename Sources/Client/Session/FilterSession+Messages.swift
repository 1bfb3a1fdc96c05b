import Foundation
import GRPCCore
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

extension FilterSession {
  /// Writes `open`, then the session's messages, until the last message or the loss of the
  /// connection.
  ///
  /// - Parameters:
  ///   - link: The number of the connection.
  ///   - callMessages: The store of large messages that wait to be written.
  func send(
    on link: Int, to writer: RPCWriter<OutgoingMessage<Sidelight_V1_ClientMessage>>,
    opening open: Sidelight_V1_Open, storedIn callMessages: OutboundMessageStore.CallMessages
  ) async throws {
    try await writer.write(.message(.with { $0.open = open }))
    while let element = await self.flow.nextMessage(on: link) {
      let ring = self.flow.ring(of: link)
      switch element {
      case .frame(let frame, let dependency):
        // Sent first: the server then knows its free slots when it filters this frame.
        if let ack = ring?.takeAcknowledgement() {
          try await writer.write(.message(.with { $0.ack = ack }))
        }
        try await writer.write(
          try frame.message(dependingOn: dependency, ring: ring, storedIn: callMessages))
      case .control(let control):
        try await writer.write(.message(control.message(at: self.clock.nanosecondsSince1970())))
      case .acknowledgement(let sequence):
        let ack =
          ring?.acknowledgement(of: sequence)
          ?? .with { $0.sequence = sequence }
        try await writer.write(.message(.with { $0.ack = ack }))
      }
    }
  }

  /// Reads the server's messages until it ends the stream.
  ///
  /// - Parameters:
  ///   - link: The number of the connection.
  ///   - opened: Called when the session is open.
  /// - Throws: `RPCError` with UNIMPLEMENTED if the server has ignored named outputs or
  ///   the composition.
  func receive(
    on link: Int,
    _ messages: RPCAsyncSequence<ReceivedMessage<Sidelight_V1_ServerMessage>, any Error>,
    opened: (Sidelight_V1_Opened) async -> Void
  ) async throws {
    for try await received in messages {
      // Messages that have arrived are delivered to a cancelled task too.
      try Task.checkCancellation()
      self.flow.recordActivity(on: link)
      switch received.message.kind {
      case .opened(let message)?:
        try self.checkOutputs(Int(message.limits.maxOutputs))
        try self.checkComposition(Int(message.limits.maxSources))
        await opened(message)
      // Outcomes of named outputs return no credit.
      case .frame(let frame)? where !frame.output.isEmpty:
        await self.flow.waitForEarlierOutputs(than: link)
        try self.receiveOutput(frame, received.pixels)
      case .dropped(let dropped)? where !dropped.output.isEmpty:
        await self.flow.waitForEarlierOutputs(than: link)
        self.receiveOutput(dropped)
      case .frame(let frame)? where self.flow.options.composition != nil:
        try self.receiveComposed(frame, received.pixels)
      case .dropped(let dropped)? where self.flow.options.composition != nil:
        self.receiveComposed(dropped)
      case .frame(let frame)?: try self.receive(frame, received.pixels, on: link)
      case .dropped(let dropped)?: self.receive(dropped, on: link)
      case .analysis(let analysis)?:
        self.flow.push(.analysis(Analysis(analysis)), topic: "analysis \(analysis.stage)")
      case .pong(let pong)?:
        self.flow.answerPing(
          pong.id, serverReceived: pong.serverReceivedNs, serverSent: pong.serverSentNs)
      // These are the session's own only on its current connection.
      case .accepted(let accepted)?: self.flow.accept(AcceptedChange(accepted), on: link)
      case .applied(let applied)?:
        self.flow.apply(AppliedChange(applied), token: applied.resumeToken, on: link)
      case .error(let error)?: self.flow.reject(RejectedChange(error), on: link)
      case .transitionEnded(let ended)?:
        self.flow.push(.transitionEnded(EndedTransition(ended)), on: link)
      case .state(let state)? where state.state == .move:
        self.flow.requestMove(
          SessionFlow.MoveRequest(state.move), token: state.resumeToken, on: link)
      case .state(let state)?:
        self.flow.record(
          SessionState(state), revision: state.revision, token: state.resumeToken, on: link)
      case .stats(let stats)? where stats.final && self.flow.isDrained:
        await self.flow.waitForEarlierOutputs(than: link)
        self.flow.push(.finalCounts(SessionCounts(stats)), on: link)
      case .stats(let stats)?:
        self.flow.push(.stats(SessionCounts(stats)), topic: "stats", on: link)
      case .advice(let advice)?:
        self.flow.push(.advice(Advice(advice)), topic: "advice", on: link)
      case .keyFrameNeeded(let needed)?:
        self.flow.push(
          .keyFrameNeeded(KeyFrameRequest(needed)), topic: "keyFrameNeeded", on: link)
      case nil: break
      }
    }
  }

  /// Checks that the server supports the session's outputs. A server without them ignores them, and
  /// all pictures would be lost.
  private func checkOutputs(_ limit: Int) throws {
    let count = self.flow.options.outputs.count
    guard count > limit else { return }
    let capability =
      limit == 0 ? "does not have named outputs" : "has at most \(limit) named outputs"
    throw RPCError(
      code: .unimplemented,
      message: "The server \(capability), and the session requests \(count); update the server, "
        + "or open a session for every output.")
  }

  /// Checks that the server supports the composition. A server without it would wait for frames.
  private func checkComposition(_ limit: Int) throws {
    guard self.flow.options.composition != nil, limit == 0 else { return }
    throw RPCError(
      code: .unimplemented,
      message: "The server does not have compositions; update the server.")
  }

  private func receiveComposed(
    _ message: Sidelight_V1_FilteredFrame, _ pixels: PixelBuffer?
  ) throws {
    let hasPixels = self.flow.options.outputs.isEmpty && !message.unmodified
    let picture =
      hasPixels ? try VideoPicture(message.image, over: pixels) : VideoPicture.omitted
    self.flow.recordComposed(.filtered(FilteredFrame(message, picture: picture, roundTrip: .zero)))
  }

  private func receiveComposed(_ message: Sidelight_V1_Dropped) {
    guard message.firstSequence <= message.lastSequence else { return }
    for sequence in message.firstSequence ... message.lastSequence {
      self.flow.recordComposed(.dropped(DroppedFrame(message, sequence: sequence)))
    }
  }

  private func receive(
    _ message: Sidelight_V1_FilteredFrame, _ pixels: PixelBuffer?, on link: Int
  ) throws {
    let ring = self.flow.ring(of: link)
    ring?.release(inputsOf: message.sequence ... message.sequence)
    guard let sent = self.flow.pending(message.sequence) else { return }
    let picture =
      if message.unmodified {
        sent.frame.picture
      } else if !self.flow.options.outputs.isEmpty {
        VideoPicture.omitted
      } else if message.image.isInSlot, let ring {
        try ring.picture(
          of: message.image, for: message.sequence, sent: sent.frame.picture)
      } else {
        try VideoPicture(message.image, over: pixels)
      }
    self.flow.resolve(
      FilteredFrame(message, picture: picture, roundTrip: self.clock.now() - sent.submitted),
      serverTime: .microseconds(message.timing.totalUs), on: link)
  }

  private func receiveOutput(
    _ message: Sidelight_V1_FilteredFrame, _ pixels: PixelBuffer?
  ) throws {
    let frame = FilteredFrame(
      message, picture: try VideoPicture(message.image, over: pixels),
      roundTrip: self.flow.timeSinceSubmission(of: message.sequence) ?? .zero)
    self.flow.push(.output(message.output, .filtered(frame)))
  }

  private func receiveOutput(_ message: Sidelight_V1_Dropped) {
    guard message.firstSequence <= message.lastSequence else { return }
    // A run names its ends and its number only: frames between them may have other outcomes.
    self.flow.push(
      .output(message.output, .dropped(DroppedFrame(message, sequence: message.lastSequence))))
  }

  private func receive(_ message: Sidelight_V1_Dropped, on link: Int) {
    guard message.firstSequence <= message.lastSequence else { return }
    let range = message.firstSequence ... message.lastSequence
    self.flow.ring(of: link)?.release(inputsOf: range)
    self.flow.resolve(range) { sequence in
      DroppedFrame(message, sequence: sequence)
    }
  }
}

/// A message to the server other than a frame.
enum Control: Sendable {
  /// A change of the pipeline, and its number.
  case change(Sidelight_V1_ClientMessage, requestID: UInt64)
  case pause(PipelineChangeLog.Pause)
  case ping(id: UInt64)
  case setEncoder(Sidelight_V1_SetEncoder)
  case setComposition(Sidelight_V1_SetComposition)
  case requestKeyFrame(output: String)
  case acknowledge(output: String, UInt64)

  /// Creates a message that selects a pipeline again.
  static func select(_ replay: PipelineChangeLog.Replay) -> Control {
    let message = Sidelight_V1_ClientMessage.with {
      switch replay.pipeline {
      case .pipeline(let pipeline): $0.select.pipeline = Sidelight_V1_Pipeline(pipeline)
      case .text(let text): $0.select.pipelineText = text
      }
      $0.select.requestID = replay.requestID
    }
    return .change(message, requestID: replay.requestID)
  }

  /// Creates the message.
  ///
  /// - Parameter time: Nanoseconds since 1970, for pings.
  func message(at time: UInt64) -> Sidelight_V1_ClientMessage {
    .with {
      switch self {
      case .change(let message, _): $0 = message
      case .pause(.running): $0.resume = Sidelight_V1_Resume()
      case .pause(.paused(let passThrough)): $0.pause.passThrough = passThrough
      case .ping(let id):
        $0.ping.id = id
        $0.ping.clientTimeNs = Int64(clamping: time)
      case .setEncoder(let change): $0.setEncoder = change
      case .setComposition(let change): $0.setComposition = change
      case .requestKeyFrame(let output): $0.requestKeyFrame.output = output
      case .acknowledge(let output, let sequence):
        $0.ack.output = output
        $0.ack.sequence = sequence
      }
    }
  }
}
