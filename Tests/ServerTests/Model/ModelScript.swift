import SidelightKernels
import SidelightWire

/// A client's actions in one session, from the first message to the last. Depends on its seed
/// only; ``ModelScriptWriter`` writes it.
struct ModelScript: Sendable {
  /// The message that opens the session.
  struct Opening: Sendable {
    var pipeline = ModelPipeline()
    var dropPolicy = DropPolicy.newestWins
    var mailboxDepth = 0
    var budget: UInt32 = 0
    var allowUnmodified = false
    var analysisOnly = false
    var failurePolicy = FailurePolicy.passThrough
    var maxFPS = 0.0
    var hasStatsInterval = false
    var outputWindow = 0
    /// The number of input and of output slots of the requested ring; 0 doesn't request a ring.
    var slots: UInt32 = 0
  }

  enum DropPolicy: Sendable {
    case newestWins, keepOldest, neverDrop
  }

  /// The revision that a change requires in `if_revision`.
  enum Condition: Sendable {
    case none, met, unmet
  }

  enum Step: Sendable {
    case frame(Sidelight_V1_Frame, isSound: Bool)
    case change(ModelChange, Condition, requestID: UInt64)
    case pause(passThrough: Bool)
    case resume
    case ping(id: UInt64)
    /// A message of a kind that the server does not know.
    case unknownKind
    /// An acknowledgement of a picture that was never sent.
    case staleAck
    /// Waits until every frame has its outcome.
    case settle
    /// Stops reading for a number of steps.
    case pauseReading(steps: Int)

    /// Whether it is a valid frame.
    var isSound: Bool { if case .frame(_, true) = self { true } else { false } }
  }

  enum Ending: Sendable {
    /// Closes its side while frames are in flight.
    case halfClose
    /// Resets the stream while frames are in flight.
    case reset
    /// Sends `open` again.
    case secondOpen
    /// Sends a message without content.
    case emptyMessage
  }

  let seed: UInt64
  var opening = Opening()
  var steps: [Step] = []
  var ending = Ending.halfClose
  /// Sends a frame only when it has the credit.
  var isPatient = false
  /// Acknowledges after every step, and not only when it waits for something.
  var acknowledgesAtOnce = false

  var frameCount: Int {
    self.steps.count { if case .frame = $0 { true } else { false } }
  }
}
