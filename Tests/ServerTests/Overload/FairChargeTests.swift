import SidelightKernels
import SidelightServer
import SidelightTestSupport
import Testing

/// Tests of the work charged to sessions that take turns on the compute threads.
@Suite(.timeLimit(.minutes(5))) struct FairChargeTests {
  @Test
  func `work that occupies one thread is charged once, regardless of the threads granted`()
    async throws
  {
    let clock = ManualClock()
    let compute = ComputePool(threadCount: 2)
    defer { compute.shutdown() }
    let scheduler = FrameScheduler(compute: compute, clock: clock.sessionClock)
    // The first session is alone, and might have both threads.
    for (session, time) in [(1, 10), (2, 15)] as [(UInt64, Int)] {
      try await scheduler.withTurn(session: session, deadline: .zero) { bands, _ in
        #expect(bands == (session == 1 ? 2 : 1))
        clock.advance(by: .milliseconds(time))
      }
    }
    let (ends, end) = AsyncStream<Void>.makeStream()
    let (order, next) = AsyncStream<UInt64>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (begins, begin) = AsyncStream<Void>.makeStream()
      var started = begins.makeAsyncIterator()
      for session: UInt64 in 3 ... 4 {
        group.addTask {
          try await scheduler.withTurn(session: session, deadline: .zero) { _, _ in
            begin.yield()
            for await _ in ends { break }
          }
        }
        await started.next()
      }
      // Both request the turn. The one with less service gets it, although the other's deadline is
      // earlier.
      for (session, deadline) in [(1, 200), (2, 100)] as [(UInt64, Int)] {
        group.addTask {
          try await scheduler.withTurn(session: session, deadline: .milliseconds(deadline)) {
            _, _ in
            _ = next.yield(session)
          }
        }
      }
      try await expectEventually("both wait") { scheduler.waitingCount == 2 }
      // One of the threads becomes free.
      end.yield()
      #expect(await order.first { _ in true } == 1)
      end.finish()
      while try await group.next() != nil {}
    }
  }
}
