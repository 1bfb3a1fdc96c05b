import Foundation
import GRPCCore
import Logging
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// A session as the rest of the server sees it: what is selected, what was counted, and the levers
/// that an operator has.
final class SessionHandle: Sendable {
  /// What the last frame was like.
  private struct LastFrame {
    var geometry: FrameGeometry?
    var total: Duration = .zero
    /// When the last that went out had come in.
    var received: Duration?
  }

  /// For clients, logs and operators.
  let id: String
  /// For the scheduler.
  let number: UInt64
  let label: String
  let peer: String
  let opened: Duration
  let outbox: Session.FrameOutbox
  private let clock: SessionClock
  private let tokens: ResumeTokens
  private let desk: Mutex<SelectionDesk>
  private let current: Mutex<Selection>
  private let lastFrame = Mutex(LastFrame())

  init(
    id: String, number: UInt64, label: String, peer: String, outbox: Session.FrameOutbox,
    desk: SelectionDesk, clock: SessionClock, tokens: ResumeTokens
  ) {
    self.id = id
    self.number = number
    self.label = label
    self.peer = peer
    self.opened = clock.now()
    self.outbox = outbox
    self.clock = clock
    self.tokens = tokens
    self.current = Mutex(
      desk.selection(resumeToken: Self.token(desk, clock, tokens)))
    self.desk = Mutex(desk)
  }

  // MARK: For the session

  /// What a frame that arrives now is made with.
  func selection(at now: Duration) -> Selection {
    self.expireOverride(at: now)
    return self.current.withLock { $0 }
  }

  /// Whether an operator's pipeline is in force.
  var isOverridden: Bool { self.current.withLock { $0.isOverride } }

  /// Whether frames that arrive now are filtered.
  var pause: SelectionDesk.Pause { self.desk.withLock { $0.pause } }

  /// Where the session stands.
  var state: Sidelight_V1_State {
    self.desk.withLock { self.state(of: $0) }
  }

  /// The participant changes his pipeline.
  ///
  /// - Throws: ``FieldFault``, as ``SelectionDesk/change(ifRevision:requestID:_:)`` does.
  func change(
    ifRevision revision: UInt64?, requestID: UInt64,
    _ body: (inout Pipeline) throws(FieldFault) -> Void
  ) throws(FieldFault) {
    try self.update { desk throws(FieldFault) in
      try desk.change(ifRevision: revision, requestID: requestID, body)
    }
  }

  /// The participant pauses, or goes on.
  func setPause(_ pause: SelectionDesk.Pause) {
    var isChange = false
    self.update { desk in isChange = desk.setPause(pause) }
    if isChange { self.tellState() }
  }

  /// A frame arrived, and is sound.
  func note(_ geometry: FrameGeometry) {
    self.lastFrame.withLock { $0.geometry = geometry }
  }

  /// A frame was handed to the transport.
  func note(total: Duration) {
    let received = self.clock.now() - total
    self.lastFrame.withLock { last in
      last.total = total
      last.received = received
    }
  }

  /// From the arrival of the last frame that went out to its writing.
  var lastTotal: Duration { self.lastFrame.withLock { $0.total } }

  /// How long ago the last frame that went out had come in; `nil` if no frame waits.
  func outputAge(at now: Duration) -> Duration? {
    guard self.outbox.counts.inFlight > 0 else { return nil }
    return now - (self.lastFrame.withLock { $0.received } ?? self.opened)
  }

  /// Tells the client where the session stands, with a token that is good for its full time again.
  func tellState() {
    self.update { [now = self.clock.now()] desk in _ = desk.expire(at: now) }
    self.outbox.push(.with { $0.state = self.state })
  }

  // MARK: For operators

  /// Forces a pipeline until the given time.
  ///
  /// - Returns: The revision.
  /// - Throws: ``PipelineError``.
  func override(
    with pipeline: Pipeline, reason: String, until end: Duration
  ) throws(PipelineError) -> UInt64 {
    var revision: UInt64 = 0
    try self.update { desk throws(PipelineError) in
      try desk.override(with: pipeline, reason: reason, until: end)
      revision = desk.revision
    }
    self.outbox.discardPictures(before: revision)
    self.tellState()
    return revision
  }

  /// Ends an override, if one is in force.
  ///
  /// - Returns: The revision.
  func endOverride() -> UInt64 {
    self.update { desk in _ = desk.endOverride() }
    return self.current.withLock { $0.revision.number }
  }

  /// The session in figures.
  func info(at now: Duration) -> Sidelight_V1_SessionInfo {
    self.expireOverride(at: now)
    let desk = self.desk.withLock { $0 }
    let last = self.lastFrame.withLock { $0 }
    return .with {
      $0.sessionID = self.id
      $0.label = self.label
      $0.peer = self.peer.clipped(toBytes: ContractLimits.maxListedPeerBytes)
      $0.state = self.state(of: desk).state
      $0.pipeline = desk.pipelineInForce.text(
        clippedToBytes: ContractLimits.maxListedPipelineBytes)
      $0.revision = desk.revision
      let age = (now - self.opened).components
      $0.age = Google_Protobuf_Duration(
        seconds: age.seconds, nanos: Int32(age.attoseconds / 1_000_000_000))
      $0.stats = Sidelight_V1_Stats(self.outbox.counts, isFinal: false)
      if let geometry = last.geometry {
        $0.width = UInt32(geometry.size.width)
        $0.height = UInt32(geometry.size.height)
        $0.format = Sidelight_V1_PixelFormat(geometry.format)
      }
      $0.lastTotalUs = last.total.wireMicroseconds
      $0.overrideReason = desk.override?.reason ?? ""
    }
  }

  // MARK: Within

  private func expireOverride(at now: Duration) {
    guard self.desk.withLock({ $0.override.map { now >= $0.end } ?? false }) else { return }
    self.update { desk in _ = desk.expire(at: now) }
  }

  /// Changes the desk, and puts what it then selects into force; tells of an override that ended.
  private func update<Failure: Error>(
    _ body: (inout SelectionDesk) throws(Failure) -> Void
  ) throws(Failure) {
    let result: Result<Bool, Failure> = self.desk.withLock { desk in
      let wasOverridden = desk.override != nil
      do throws(Failure) {
        try body(&desk)
      } catch {
        return .failure(error)
      }
      let selection = desk.selection(resumeToken: Self.token(desk, self.clock, self.tokens))
      self.current.withLock { $0 = selection }
      return .success(wasOverridden && desk.override == nil)
    }
    if try result.get() { self.outbox.push(.with { $0.state = self.state }) }
  }

  private func state(of desk: SelectionDesk) -> Sidelight_V1_State {
    .with {
      if let override = desk.override {
        $0.state = .overridden
        $0.message = override.reason
      } else {
        $0.state = desk.pause == .running ? .running : .paused
      }
      $0.revision = desk.revision
      $0.resumeToken = self.current.withLock { $0.revision.resumeToken }
    }
  }

  private static func token(
    _ desk: SelectionDesk, _ clock: SessionClock, _ tokens: ResumeTokens
  ) -> Data {
    guard tokens.isEnabled else { return Data() }
    return tokens.sign(
      desk.resumeState(
        at: clock.now(), wallNow: clock.nanosecondsSince1970(), lifetime: tokens.lifetime))
  }
}
