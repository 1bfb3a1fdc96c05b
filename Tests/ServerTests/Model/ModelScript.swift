import SidelightKernels
import SidelightWire

/// A client's actions in one session, from the first message to the last. Depends on its seed
/// alone; ``ModelScriptWriter`` writes it.
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
    /// Slots each way of the ring that is asked for; 0: none.
    var slots: UInt32 = 0
  }

  enum DropPolicy: Sendable {
    case newestWins, keepOldest, neverDrop
  }

  /// Which revision a change asks to be in force.
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
    /// An acknowledgement of what was never sent.
    case staleAck
    /// Waits until every frame has its outcome.
    case settle
    /// Reads nothing until so many steps later.
    case pauseReading(steps: Int)

    /// Whether it is a frame that can be read.
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
  /// Acknowledges after each step, and not only when it waits for something.
  var acknowledgesAtOnce = false

  var frameCount: Int {
    self.steps.count { if case .frame = $0 { true } else { false } }
  }
}
