import SidelightKernels
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `Compute threads` {
  #if canImport(Glibc)
    @Test(arguments: [(0, 0), (7, 7), (19, 19), (99, 19), (-5, 0)])
    func `let other threads go first as readily as they are told`(
      _ niceness: Int, _ expected: Int
    ) async {
      let before = await Self.niceness()
      let pool = ComputePool(threadCount: 2, niceness: niceness)
      defer { pool.shutdown() }
      // On Linux 0 means the calling thread.
      let inside = await withTaskExecutorPreference(pool) { await Self.niceness() }
      #expect(inside == max(before, expected))
      #expect(await Self.niceness() == before)
    }

    @concurrent
    private static func niceness() async -> Int {
      Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
    }
  #endif
}
