import SidelightServer
import SidelightWire
import Testing

@Suite struct SessionHistoryTests {
  @Test func `frames that are withdrawn from the counts leave a second without frames`() {
    var history = SessionHistory()
    var counts = FrameCounts()
    counts.filtered = 3
    counts.dropped[.superseded] = 1
    history.record(counts, latency: 8)
    #expect(history.delivered == 3 && history.dropped == 1)

    // The last of them was late before it could be encoded.
    counts.filtered = 2
    counts.dropped[.lateOnOutput] = 1
    history.record(counts, latency: 9)
    #expect(history.delivered == 0 && history.dropped == 1)

    counts.filtered = 4
    counts.dropped[.superseded] = 0
    history.record(counts, latency: 10)
    #expect(history.delivered == 2 && history.dropped == 0)
    #expect(history.latencies == [8, nil, 10])
  }
}
