/// The load of one participant.
struct Load: Sendable {
  /// The times at which frames are sent.
  enum Pace: Sendable {
    /// A fixed rate, independent of outcomes.
    case openLoop(framesPerSecond: Double)
    /// As soon as the window has room, without drops: at the rate of the server.
    case closedLoop
    /// Doesn't send frames.
    case never
  }

  var pipeline = Pipeline.passThrough
  var picture = Picture.hd720
  var pace: Pace
  /// The budget of a frame, from its receipt.
  var budget: Duration?
  /// Whether frames wait for the server's credits, newest wins, as in the client library; otherwise
  /// the sender sends as much as the transport accepts.
  var honoursWindow = true
  /// The pings a second between the frames.
  var pingsPerSecond = 0.0

  /// The message that opens the session.
  var open: ClientMessage {
    let isClosedLoop = if case .closedLoop = self.pace { true } else { false }
    return .open(pipeline: self.pipeline.encoded(), budget: self.budget, neverDrop: isClosedLoop)
  }
}
