import SidelightClient
import Testing

@Suite struct ClockReadingTests {
  @Test func `round trip and clock offset follow from the four times, as in RFC 5905`() {
    // 30 ns there, 20 ns at the server, 10 ns back; the server's clock is 1,000 ns ahead.
    let reading = ClockReading(sent: 100, serverReceived: 1130, serverSent: 1150, arrived: 160)
    #expect(reading.roundTripTime == .nanoseconds(40))
    #expect(
      reading.clockOffset == .nanoseconds(1010),
      "wrong by half of the difference between the directions")
  }

  @Test func `a server whose clock is behind has a negative offset, and no difference overflows`() {
    let reading = ClockReading(
      sent: .max, serverReceived: .min, serverSent: .min, arrived: .max)
    #expect(reading.roundTripTime == .zero)
    #expect(reading.clockOffset < .zero)
  }
}
