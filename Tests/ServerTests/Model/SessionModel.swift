import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// The rules of a session. Pure: its input is every message that the client sends or receives, in
/// order; it reports violations. It doesn't know how the server works.
///
/// The client's messages do not determine every outcome: whether a frame is filtered or superseded
/// depends on time. So a frame has either one required outcome or several possible ones.
struct SessionModel {
  /// A violation of the rules.
  struct Violation: Error, CustomStringConvertible {
    var description: String
  }

  /// A frame that was sent, and the state of the session at that time.
  struct SentFrame {
    enum Status {
      /// It is invalid.
      case invalid
      /// The session is paused.
      case paused
      /// It may be filtered.
      case admitted
    }

    var message: Sidelight_V1_Frame
    var status: Status
    var revision: UInt64
    var requestID: UInt64
    var pipeline: ModelPipeline
    /// Whether it returns unchanged with any pipeline.
    var passes: Bool
    /// The frames without an outcome that the client had received: at least as many as the server
    /// had at that time.
    var outstandingBefore: Int
    /// Whether a custom filter may have exceeded its timeout by now.
    var mayFindWorkerStuck: Bool
  }

  /// Messages that must arrive in this order, independent of frames.
  enum Control: Equatable {
    case pong(UInt64)
    case error(requestID: UInt64, code: Int32)
    case accepted(requestID: UInt64, revision: UInt64)
  }

  enum Pause {
    case running, dropping, passing
  }

  let opening: ModelScript.Opening
  let framesInFlight: Int
  let maxConsecutiveErrors: Int

  // The client's actions.
  var frames: [SentFrame] = []
  private(set) var pipeline: ModelPipeline
  private(set) var revision: UInt64 = 1
  private(set) var requestID: UInt64 = 0
  private(set) var pause = Pause.running
  private(set) var ignoredMessages: UInt64 = 0
  private var lastSequence: UInt64?
  private var consecutiveErrors = 0
  private var mayFindWorkerStuck = false
  /// Whether the client has closed its side, after which it stops acknowledging.
  var isClosing = false

  // Expected messages.
  var controls: ArraySlice<Control> = []
  /// The states that the session has had, and how many of them the server has reported or skipped.
  var states: [Sidelight_V1_SessionState] = []
  var statesReceived = 0
  var lastState: Sidelight_V1_SessionState?
  /// The first frame without outcome.
  var nextOutcome = 0

  // The server's messages.
  var opened: Sidelight_V1_Opened?
  var applied: Sidelight_V1_Applied?
  var isApplicationPending = false
  var counts = Sidelight_V1_Stats()
  var dropCounts: [Sidelight_V1_DropReason: UInt64] = [:]
  var finalStats: Sidelight_V1_Stats?
  var unacknowledged: ArraySlice<UInt64> = []
  /// The frames sent in slots, and the pictures received in output slots; set by the driver.
  var slotCounts: (inputs: UInt64, outputs: UInt64) = (0, 0)
  /// The frames within the session's frame rate.
  var framesWithinRate = 0

  init(opening: ModelScript.Opening, framesInFlight: Int, maxConsecutiveErrors: Int) {
    self.opening = opening
    self.pipeline = opening.pipeline
    self.framesInFlight = framesInFlight
    self.maxConsecutiveErrors = maxConsecutiveErrors
  }

  /// Frames without outcome.
  var outstanding: Int { self.frames.count - self.nextOutcome }

  /// Whether the server must end the session for its errors.
  var hasTooManyErrors: Bool { self.consecutiveErrors > self.maxConsecutiveErrors }

  /// Returns the client's next message.
  ///
  /// - Returns: The message; `nil` if the step does not send one.
  mutating func send(_ step: ModelScript.Step) -> Sidelight_V1_ClientMessage? {
    switch step {
    case .frame(let frame, let isSound):
      self.note(frame, isSound: isSound)
      return .with { $0.frame = frame }
    case .change(let change, let condition, let requestID):
      return self.send(change, condition, requestID)
    case .pause(let passThrough):
      self.setPause(passThrough ? .passing : .dropping)
      return .with { $0.pause.passThrough = passThrough }
    case .resume:
      self.setPause(.running)
      return .with { $0.resume = Sidelight_V1_Resume() }
    case .ping(let id):
      self.controls.append(.pong(id))
      return .with { $0.ping.id = id }
    case .unknownKind:
      self.ignoredMessages += 1
      // Field 127, three bytes.
      return try? Sidelight_V1_ClientMessage(
        serializedBytes: [0xFA, 0x07, 0x03, 0x61, 0x62, 0x63] as [UInt8])
    case .staleAck: return .with { $0.ack.sequence = 0 }
    case .settle, .pauseReading: return nil
    }
  }

  /// Returns the client's acknowledgement, if something is to be acknowledged.
  mutating func acknowledge() -> Sidelight_V1_ClientMessage? {
    guard self.opening.outputWindow > 0, let last = self.unacknowledged.last else { return nil }
    self.unacknowledged = []
    return .with { $0.ack.sequence = last }
  }

  private mutating func note(_ frame: Sidelight_V1_Frame, isSound: Bool) {
    let isInOrder = self.lastSequence.map { frame.sequence > $0 } ?? true
    if isInOrder { self.lastSequence = frame.sequence }
    let isValid = isSound && isInOrder
    self.consecutiveErrors = isValid ? 0 : self.consecutiveErrors + 1
    let passes = self.opening.analysisOnly || self.pause == .passing
    var sent = SentFrame(
      message: frame,
      status: !isValid ? .invalid : self.pause == .dropping ? .paused : .admitted,
      revision: self.revision, requestID: self.requestID, pipeline: self.pipeline, passes: passes,
      outstandingBefore: self.outstanding, mayFindWorkerStuck: false)
    if sent.status == .admitted, !passes, self.pipeline.isCustom,
      self.deadline(of: frame) != nil
    {
      self.mayFindWorkerStuck = true
    }
    sent.mayFindWorkerStuck = self.mayFindWorkerStuck
    self.frames.append(sent)
  }

  /// The budget that applies to a frame, in microseconds.
  func deadline(of frame: Sidelight_V1_Frame) -> UInt32? {
    guard !frame.mustProcess, self.opening.dropPolicy != .neverDrop else { return nil }
    let budget = frame.hasBudgetUs ? frame.budgetUs : self.opening.budget
    return budget == 0 ? nil : budget
  }

  private mutating func send(
    _ change: ModelChange, _ condition: ModelScript.Condition, _ requestID: UInt64
  ) -> Sidelight_V1_ClientMessage {
    let message = change.message(
      requestID: requestID,
      ifRevision: condition == .none
        ? nil : condition == .met ? self.revision : self.revision &+ 1)
    if condition == .unmet {
      self.refuse(requestID, code: .aborted)
    } else if let new = change.result(from: self.pipeline) {
      self.pipeline = new
      self.revision += 1
      self.requestID = requestID
      self.controls.append(.accepted(requestID: requestID, revision: self.revision))
      self.consecutiveErrors = 0
    } else {
      self.refuse(requestID, code: .invalidArgument)
    }
    return message
  }

  private mutating func refuse(_ requestID: UInt64, code: StatusCode) {
    self.controls.append(.error(requestID: requestID, code: code.rawValue))
    self.consecutiveErrors += 1
  }

  private mutating func setPause(_ pause: Pause) {
    guard self.pause != pause else { return }
    self.pause = pause
    self.states.append(pause == .running ? .running : .paused)
  }

  /// The values of `google.rpc.Code` that the model expects.
  enum StatusCode: Int32 {
    case invalidArgument = 3
    case deadlineExceeded = 4
    case aborted = 10
    case internalError = 13
  }
}
