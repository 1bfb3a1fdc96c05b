/// What one participant sends.
struct Load: Sendable {
  /// When frames are sent.
  enum Pace: Sendable {
    /// So many a second, whatever becomes of them.
    case openLoop(framesPerSecond: Double)
    /// As soon as the window has room, and none is dropped: as fast as the server makes them.
    case closedLoop
    /// None.
    case never
  }

  var pipeline = Pipeline.passThrough
  var picture = Picture.hd720
  var pace: Pace
  /// The time in which a frame is of use, from its receipt.
  var budget: Duration?
  /// Whether frames wait for the server's credits, newest wins, as the client library has it; else
  /// they go out as fast as the transport takes them.
  var honoursWindow = true
  /// Pings a second, between the frames.
  var pingsPerSecond = 0.0

  /// What opens the session.
  var open: ClientMessage {
    let isClosedLoop = if case .closedLoop = self.pace { true } else { false }
    return .open(pipeline: self.pipeline.encoded, budget: self.budget, neverDrop: isClosedLoop)
  }
}
