import SidelightServer
import Testing

/// The number of threads for the processors that a process may use.
@Suite struct ThreadCountsTests {
  @Test(
    arguments: [
      (1, nil, 1, 1), (2, nil, 2, 4), (3, nil, 3, 4), (4, nil, 4, 4), (64, nil, 64, 64),
      (8, 2, 2, 4), (8, 1.5, 1, 4), (8, 1, 1, 1), (8, 0.25, 1, 1), (2, 16, 2, 4), (8, 3.99, 3, 4),
      (8, 5.5, 5, 6), (1, 1.5, 1, 1), (8, .infinity, 8, 8),
    ] as [(Int, Double?, Int, Int)])
  func `a quota counts rounded down for filters and up for event loops; two processors have four`(
    count: Int, quota: Double?, compute: Int, eventLoops: Int
  ) {
    let counts = ThreadCounts(for: AvailableProcessors(count: count, quota: quota))
    #expect(counts == ThreadCounts(compute: compute, eventLoops: eventLoops))
  }

  @Test func `a server has the number of compute threads for this process`() {
    #expect(ServerConfiguration().computeThreads == ThreadCounts.ofThisProcess.compute)
  }
}
