import GRPCCore
public import SidelightWire

/// An event of a session, in the order in which it happened.
///
/// Of periodic counts, advice, one stage's analyses and the connection's state, only the newest is
/// kept until it is taken.
public enum SessionEvent: Sendable {
  /// The outcome of a frame.
  case outcome(FrameOutcome)
  /// The outcome of a frame in a named output. A run of dropped frames is one event, with the number
  /// of the last. A lost connection loses the outcomes of frames in flight.
  case output(String, FrameOutcome)
  /// The server accepted a change; frames that are sent after it are filtered using it.
  case accepted(AcceptedChange)
  /// A change has taken effect.
  case applied(AppliedChange)
  /// A change was refused; the previous pipeline stays active.
  case rejected(RejectedChange)
  /// A transition has ended.
  case transitionEnded(EndedTransition)
  /// The session changed state.
  case state(SessionState)
  /// A recommendation to the sender.
  case advice(Advice)
  /// The sender's frames cannot be decoded until it sends a key frame.
  case keyFrameNeeded(KeyFrameRequest)
  /// A result of an analysis stage.
  case analysis(Analysis)
  /// The server's counts so far, at the interval ``SessionOptions/statsInterval``.
  case stats(SessionCounts)
  /// The connection was lost or restored; only with ``SessionOptions/reconnect``.
  case connection(ConnectionEvent)
  /// The server's final counts of this session (after a reconnection: since then); the last event
  /// of a session that ended without error.
  case finalCounts(SessionCounts)
}

/// A change of the pipeline that the server accepted, reported at once, even without a following
/// frame. ``AppliedChange`` reports the first frame.
///
/// Changes that are requested again after a lost connection are accepted again, together, using the
/// number of the last.
public struct AcceptedChange: Sendable, Hashable {
  /// The number returned by the call that requested the change.
  public var requestID: UInt64
  /// The revision that the change created. During an override, frames keep the operator's pipeline.
  public var revision: UInt64

  init(_ message: Sidelight_V1_Accepted) {
    self.requestID = message.requestID
    self.revision = message.revision
  }
}

/// A change of the pipeline that has taken effect: the next frame that comes back is the first that
/// was filtered using it.
public struct AppliedChange: Sendable, Hashable {
  /// The active revision.
  public var revision: UInt64
  /// The first frame filtered using it.
  public var firstSequence: UInt64
  /// The number that the call which requested the change returned. The change includes earlier
  /// changes without a filtered frame, which are not reported. 0 for the first pipeline and for
  /// overrides.
  public var requestID: UInt64

  init(_ message: Sidelight_V1_Applied) {
    self.revision = message.revision
    self.firstSequence = message.firstSequence
    self.requestID = message.requestID
  }
}

/// A change of the pipeline that was refused. The previous pipeline stays active.
public struct RejectedChange: Sendable, Hashable {
  /// The kind of reason for which a change was refused.
  public enum Cause: Sendable, Hashable {
    /// The changed pipeline is invalid.
    case invalid
    /// The active revision is another than `ifRevision` requires.
    case otherRevision
    /// The connection was lost before the server answered, and `ifRevision` forbids a second
    /// request: the change may or may not have taken effect.
    case connectionLost
  }

  /// The number returned by the call that requested the change.
  public var requestID: UInt64
  /// The kind of reason.
  public var cause: Cause
  /// The reason for a person to read: the path of the invalid field, its value and its limit.
  public var message: String
  /// The path of the invalid field, if the server names it.
  public var field: String?
  /// The invalid value, if the server names it, shortened if it is long.
  public var value: String?
  /// The limit of the value, if the server names it.
  public var limit: String?
  /// The nearest valid name, if a name is unknown.
  public var suggestion: String?
  /// The position of the error in the text that
  /// ``FilterSession/select(text:transition:ifRevision:)`` sent.
  public var position: PipelineTextPosition?

  init(requestID: UInt64, cause: Cause, message: String) {
    self.requestID = requestID
    self.cause = cause
    self.message = message
  }

  init(_ message: Sidelight_V1_Error) {
    self.init(
      requestID: message.requestID,
      cause: message.status.code == Int32(RPCError.Code.aborted.rawValue)
        ? .otherRevision : .invalid,
      message: message.status.message)
    let metadata = message.status.errorMetadata
    self.field = metadata["field"]
    self.value = metadata["value"]
    self.limit = metadata["limit"]
    self.suggestion = metadata["suggestion"]
    self.position = PipelineTextPosition(metadata)
  }
}

/// A transition that has ended. If another change or an override replaces a transition, its end is
/// not reported.
public struct EndedTransition: Sendable, Hashable {
  /// The revision of the new pipeline.
  public var revision: UInt64
  /// The number returned by the call that requested the change.
  public var requestID: UInt64
  /// The first frame that shows only the new pipeline.
  public var firstSequence: UInt64
  /// The reason; all but `TransitionEnd.completed` are cuts to the new pipeline. `nil` for a reason
  /// that is unknown to this library.
  public var end: TransitionEnd?

  init(_ message: Sidelight_V1_TransitionEnded) {
    self.revision = message.revision
    self.requestID = message.requestID
    self.firstSequence = message.firstSequence
    self.end = TransitionEnd(message.end)
  }
}

/// A character of a pipeline's text.
public struct PipelineTextPosition: Sendable, Hashable {
  /// The line, from 1.
  public var line: Int
  /// The character in the line, from 1.
  public var column: Int
  /// The offset in bytes of UTF-8, from 0.
  public var utf8Offset: Int

  /// Reads the metadata of an error, if they contain a position.
  init?(_ metadata: [String: String]) {
    func number(_ name: String) -> Int? { metadata[name].flatMap { Int($0) } }
    guard let line = number("line"), let column = number("column"),
      let utf8Offset = number("utf8_offset")
    else { return nil }
    self.line = line
    self.column = column
    self.utf8Offset = utf8Offset
  }
}

/// The state of a session at the server.
public enum SessionState: Sendable, Hashable {
  /// Frames are filtered.
  case running
  /// Frames are not filtered.
  case paused
  /// An operator's pipeline is active, for the given reason.
  case overridden(reason: String)
  /// The session ends, because the server shuts down or an operator moves it. With
  /// ``SessionOptions/reconnect`` it continues elsewhere; otherwise open one at another server.
  case draining
  /// A state that is unknown to this library.
  case other

  init(_ message: Sidelight_V1_State) {
    switch message.state {
    case .running: self = .running
    case .paused: self = .paused
    case .draining: self = .draining
    case .overridden: self = .overridden(reason: message.message)
    case .move, .unspecified, .UNRECOGNIZED: self = .other
    }
  }
}

/// The server's recommendation to a sender that sends more than the server can filter in time.
public struct Advice: Sendable, Hashable {
  /// The slowest filter or part of the server: "gaussianBlur", "queue", "output".
  public var bottleneck: String
  /// The frame rate that the server can sustain, if it recommends one.
  public var suggestedFPS: Double?
  /// The scale of width and height, 0 ... 1, that the server can sustain, if it recommends one.
  public var suggestedScale: Double?

  init(_ message: Sidelight_V1_Advice) {
    self.bottleneck = message.bottleneck
    self.suggestedFPS = message.suggestedFps > 0 ? message.suggestedFps : nil
    self.suggestedScale = message.suggestedScale > 0 ? message.suggestedScale : nil
  }
}

/// A request for a key frame, by the server, or by the client if it dropped frames on which others
/// depend. Repeated every half second while frames arrive without a key frame.
public struct KeyFrameRequest: Sendable, Hashable {
  /// The reason why a key frame is needed.
  public typealias Reason = KeyFrameReason

  /// The first frame that cannot be decoded.
  public var sequence: UInt64
  /// The reason.
  public var reason: Reason

  init(sequence: UInt64, reason: Reason) {
    self.sequence = sequence
    self.reason = reason
  }

  init(_ message: Sidelight_V1_KeyFrameNeeded) {
    self.init(sequence: message.sequence, reason: Reason(message.reason))
  }
}

/// The result of an analysis stage for a frame.
public struct Analysis: Sendable, Hashable {
  /// An object found by an analysis. Positions and sizes are in the frame's pixels.
  public struct Detection: Sendable, Hashable {
    /// The kind of object: "face".
    public var kind: String
    /// The object's number, the same from frame to frame.
    public var trackingID: UInt64
    /// The confidence, 0 ... 1.
    public var confidence: Double
    /// The left edge.
    public var x: Double
    /// The top edge.
    public var y: Double
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double
  }

  /// The number of the analysed frame.
  public var sequence: UInt64
  /// The stage's id or index.
  public var stage: String
  /// The filter's name.
  public var filter: String
  /// The time from the frame's receipt to the sending of the result, on the server.
  public var age: Duration
  /// Figures by name, as the filter's description lists them.
  public var figures: [String: Double]
  /// The objects that were found.
  public var detections: [Detection]

  init(_ message: Sidelight_V1_Analysis) {
    self.sequence = message.sequence
    self.stage = message.stage
    self.filter = message.filter
    self.age = .microseconds(message.ageUs)
    self.figures = message.figures
    self.detections = message.detections.map { detection in
      Detection(
        kind: detection.kind, trackingID: detection.trackingID,
        confidence: detection.confidence, x: detection.x, y: detection.y,
        width: detection.width, height: detection.height)
    }
  }
}

/// A change of a session's connection.
public enum ConnectionEvent: Sendable {
  /// The connection was lost, or could not be opened, because of `cause`. Attempt `attempt`,
  /// counted from 1, follows after `delay`. Until then ``ReconnectPolicy/failOpen`` applies to
  /// frames.
  case interrupted(cause: any Error, attempt: Int, delay: Duration)
  /// The session continues at `address`, after an interruption or a move. `isResumed` is `true` if
  /// the server restored its state. It is `false` if the server rejected the resume token (expired,
  /// or issued by another fleet): the session was then reopened using the client's last selected
  /// pipeline, without an operator's override.
  case restored(address: Address, isResumed: Bool)
}
