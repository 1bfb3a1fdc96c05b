import SidelightKernels
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `The compute pool` {
  #if canImport(Glibc)
    @Test(arguments: [(0, 0), (7, 7), (19, 19), (99, 19), (-5, 0)])
    func `threads run at the configured niceness, clamped to 0 ... 19`(
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

/// The memory of the compute threads' queue.
@Suite struct `The job queue` {
  @Test func `elements leave in order while the queue grows and shrinks`() {
    var queue = RingQueue<Int>()
    var (added, removed) = (0, 0)
    var random = TestRandom(seed: 3)
    for phase in 0 ..< 40 {
      for _ in 0 ..< Int.random(in: 0 ... 200, using: &random) {
        queue.append(added)
        added += 1
      }
      let leaving = phase == 39 ? queue.count : Int.random(in: 0 ... 200, using: &random)
      for _ in 0 ..< min(leaving, queue.count) {
        #expect(queue.popFirst() == removed)
        removed += 1
      }
      #expect(queue.count == added - removed)
    }
    #expect(queue.popFirst() == nil)
    #expect(queue.isEmpty)
  }

  @Test func `capacity follows the number of waiting elements`() {
    var queue = RingQueue<Int>()
    for number in 0 ..< 10 { queue.append(number) }
    for number in 10 ..< 100_000 {
      queue.append(number)
      _ = queue.popFirst()
    }
    #expect(queue.capacity == 16)
    for number in 0 ..< 10_000 { queue.append(number) }
    #expect(queue.capacity <= 2 * queue.count)
    while queue.popFirst() != nil {}
    #expect(queue.capacity == RingQueue<Int>.minimumCapacity)
  }

  @Test func `removed elements are released`() {
    final class Token {}
    var queue = RingQueue<Token>()
    weak var released: Token?
    do {
      let token = Token()
      released = token
      queue.append(token)
    }
    queue.append(Token())
    _ = queue.popFirst()
    #expect(released == nil)
  }

  /// Three tasks that hand the only thread to one another: at any time others wait.
  @Test func `a pool that is never idle does not grow`() async {
    let pool = ComputePool(threadCount: 1)
    await withTaskExecutorPreference(pool) {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0 ..< 3 {
          group.addTask { for _ in 0 ..< 3000 { await Task.yield() } }
        }
      }
    }
    #expect(pool.queueCapacity <= 64)
  }
}
