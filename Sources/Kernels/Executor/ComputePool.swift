import CKernels
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Threads for computing pixels, apart from those that carry gRPC.
///
/// Make it the preferred executor of a task (``PlanExecutor`` does) and the task's synchronous work
/// and its children run here. Threads start at once and sleep while there is nothing to do. They end
/// with ``shutdown()``, or by themselves after the pool's last reference goes; in both cases work
/// that was accepted is finished first.
///
/// A thread whose work does not come back can be stood in for: see ``standIn(for:)``.
public final class ComputePool: TaskExecutor {
  /// How many threads the pool has.
  public let threadCount: Int

  private let queue: JobQueue
  private let start: ThreadStart
  private var roster: ThreadRoster { self.start.roster }

  /// The number of processors that are online.
  public static let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - threadCount: 1 ... 256, by default as many as there are processors. If the system refuses to
  ///     start some, the pool has fewer; if it refuses all, work runs on the thread that hands it in.
  ///   - niceness: 0 ... 19, by default 0: how readily the threads let others of the process go first,
  ///     such as those that answer pings (`setpriority`, on Linux).
  public convenience init(threadCount: Int = ComputePool.processorCount, niceness: Int = 0) {
    self.init(threadCount: threadCount, niceness: niceness, instructionSet: nil)
  }

  /// Starts the threads, which compute with the rows of the given instruction set; with the
  /// process's if it is `nil`, or if the machine cannot run it.
  package init(threadCount: Int, niceness: Int = 0, instructionSet: InstructionSet?) {
    let queue = JobQueue()
    let start = ThreadStart(
      queue: queue, niceness: Int32(min(max(niceness, 0), 19)), instructionSet: instructionSet)
    let started = (0 ..< min(max(threadCount, 1), 256)).count { _ in
      start.roster.add { Self.startThread(start) }
    }
    self.queue = queue
    self.start = start
    self.threadCount = max(1, started)
    if started == 0 { queue.close() }
  }

  deinit {
    self.queue.close()
    for thread in self.roster.takeAll() { pthread_detach(thread) }
  }

  /// Runs a job on one of the threads, as `TaskExecutor` asks.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A closed pool has no threads left; the work must still be done.
    if !self.queue.append(job, for: self) {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }

  /// Finishes what was handed in, ends the threads, and returns when they are gone. Work that is
  /// handed in later runs on the thread that hands it in. A second call does nothing.
  ///
  /// Blocks; must not be called from a task that runs on the pool.
  public func shutdown() {
    self.queue.close()
    for thread in self.roster.takeAll() { pthread_join(thread, nil) }
  }

  /// The number of jobs that may wait without the queue allocating more memory.
  package var queueCapacity: Int { self.queue.capacity }

  /// Threads that there are now, those that stand in for others among them.
  package var currentThreadCount: Int { self.roster.count }

  /// Some threads are taken up by work that may never come back: as many others are started, so that
  /// the pool can do what it could.
  ///
  /// - Returns: How many were; fewer if the system refuses. To be handed to ``relieve(_:)`` when the
  ///   work is done.
  package func standIn(for count: Int) -> Int {
    (0 ..< count).count { _ in
      self.queue.cancelRetirement() || self.roster.add { Self.startThread(self.start) }
    }
  }

  /// As many threads end, as soon as they have nothing in hand.
  package func relieve(_ count: Int) {
    self.queue.retire(count)
  }

  private static func startThread(_ start: ThreadStart) -> pthread_t? {
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let context = unsafe Unmanaged.passRetained(start)
    let status = unsafe pthread_create(&thread, nil, computeThread, context.toOpaque())
    guard status == 0 else {
      unsafe context.release()
      return nil
    }
    return thread
  }
}

#if canImport(Darwin)
  private func computeThread(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    unsafe work(context)
    return nil
  }
#else
  private func computeThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context = unsafe context { unsafe work(context) }
    return nil
  }
#endif

/// What a thread is told when it starts.
private final class ThreadStart: Sendable {
  let roster = ThreadRoster()
  let queue: JobQueue
  let niceness: Int32
  let instructionSet: InstructionSet?

  init(queue: JobQueue, niceness: Int32, instructionSet: InstructionSet?) {
    self.queue = queue
    self.niceness = niceness
    self.instructionSet = instructionSet
  }
}

/// The life of a compute thread.
private func work(_ context: UnsafeMutableRawPointer) {
  unsafe sl_name_thread("sidelight-pixel")
  let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  if start.niceness > 0 { sl_set_thread_niceness(start.niceness) }
  start.instructionSet?.useOnThisThread()
  if start.queue.work() == .retired { start.roster.leave() }
}

/// The threads of a pool that somebody has to join or detach yet.
final class ThreadRoster: Sendable {
  private let threads = Mutex<[pthread_t]>([])

  var count: Int { self.threads.withLock { $0.count } }

  /// Starts a thread and takes it in, before it can leave.
  ///
  /// - Returns: Whether it could be started.
  func add(_ start: () -> pthread_t?) -> Bool {
    self.threads.withLock { threads in
      guard let thread = start() else { return false }
      threads.append(thread)
      return true
    }
  }

  /// The calling thread ends: nobody has to look after it.
  func leave() {
    let me = pthread_self()
    let wasHere = self.threads.withLock { threads in
      guard let index = threads.firstIndex(where: { pthread_equal($0, me) != 0 }) else {
        return false
      }
      threads.remove(at: index)
      return true
    }
    if wasHere { pthread_detach(me) }
  }

  /// All of them; they are the caller's then.
  func takeAll() -> [pthread_t] {
    self.threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
  }
}
