/// What a ping told about the way to the server and its clock.
public struct ClockReading: Sendable, Hashable {
  /// From the ping's leaving to the answer's arrival, less the time that the server had it.
  public var roundTripTime: Duration
  /// How far the server's clock is ahead of this machine's, if both ways take equally long:
  /// `((t1 - t0) + (t2 - t3)) / 2`, as in RFC 5905, section 8. Wrong by half the round trip at most.
  public var clockOffset: Duration

  /// - Parameters: Nanoseconds since 1970; the odd ones on the client's clock are `sent`, `arrived`.
  package init(sent: Int64, serverReceived: Int64, serverSent: Int64, arrived: Int64) {
    let there = Duration.nanoseconds(serverReceived) - .nanoseconds(sent)
    let back = Duration.nanoseconds(serverSent) - .nanoseconds(arrived)
    self.roundTripTime = there - back
    self.clockOffset = (there + back) / 2
  }
}
