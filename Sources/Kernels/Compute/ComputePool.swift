import CKernels
import Synchronization

/// A pool of threads that filter pixels, separate from the threads that carry gRPC.
///
/// The pool is a task executor: a task that prefers it (``PlanExecutor`` sets this) runs its
/// synchronous work and its child tasks on the pool's threads. Threads start with the pool and
/// sleep while the queue is empty. They end with ``shutdown()``, or after the pool's last reference
/// is released; in both cases accepted work is finished first.
///
/// `addReplacements(for:)` starts threads that replace blocked threads.
public final class ComputePool: TaskExecutor {
  /// The number of threads at start.
  public let threadCount: Int

  private let queue: JobQueue
  private let start: ThreadStart
  private var threads: ThreadList { self.start.threads }

  /// The number of processors on which this process may run: on Linux the processors in its
  /// affinity mask, elsewhere the processors online.
  public static let processorCount = Int(sl_processor_count())

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - threadCount: 1 ... 256, by default the number of processors. The pool has fewer threads if
  ///     the system refuses some; without threads, work runs on the thread that submits it.
  ///   - niceness: 0 ... 19, by default 0: the threads' niceness (`setpriority`, on Linux), which
  ///     lets other threads of the process, such as threads that answer pings, run first.
  public convenience init(threadCount: Int = ComputePool.processorCount, niceness: Int = 0) {
    self.init(threadCount: threadCount, niceness: niceness, instructionSet: nil)
  }

  /// Starts the threads, which use the rows of the given instruction set. `nil`, or a set that the
  /// machine cannot run, uses the process's.
  package init(threadCount: Int, niceness: Int = 0, instructionSet: InstructionSet?) {
    let queue = JobQueue()
    let start = ThreadStart(
      queue: queue, niceness: Int32(min(max(niceness, 0), 19)), instructionSet: instructionSet)
    let started = (0 ..< min(max(threadCount, 1), 256)).count { _ in
      start.threads.add { Self.startThread(start) }
    }
    self.queue = queue
    self.start = start
    self.threadCount = max(1, started)
    if started == 0 { queue.close() }
  }

  deinit {
    self.queue.close()
    for thread in self.threads.removeAll() { pthread_detach(thread) }
  }

  /// Runs a job on one of the threads, as `TaskExecutor` requires.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A closed pool's threads have ended, but every job must run.
    if !self.queue.append(job, for: self) {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }

  /// Finishes submitted work, ends the threads, and returns when they have ended. Work submitted
  /// later runs on the submitting thread. A second call has no effect.
  ///
  /// Blocks. Don't call it from a task that runs on the pool.
  public func shutdown() {
    self.queue.close()
    for thread in self.threads.removeAll() { pthread_join(thread, nil) }
  }

  /// Whether jobs wait for a thread. Read without a lock: the answer may be outdated.
  package var hasWaitingJobs: Bool { self.queue.hasWaitingJobs }

  /// The number of jobs that may wait without the queue allocating more memory.
  package var queueCapacity: Int { self.queue.capacity }

  /// The number of threads now, including replacement threads.
  package var currentThreadCount: Int { self.threads.count }

  /// Starts replacement threads to keep the pool's capacity while threads run work that may never
  /// return.
  ///
  /// - Parameter count: The number of blocked threads.
  /// - Returns: The number of started threads; fewer if the system refuses some. Pass it to
  ///   ``retire(_:)`` when the work has returned.
  package func addReplacements(for count: Int) -> Int {
    (0 ..< count).count { _ in
      self.queue.cancelRetirement() || self.threads.add { Self.startThread(self.start) }
    }
  }

  /// Ends a number of threads, as soon as they finish their current jobs.
  package func retire(_ count: Int) {
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

/// The parameters of a thread.
private final class ThreadStart: Sendable {
  let threads = ThreadList()
  let queue: JobQueue
  let niceness: Int32
  let instructionSet: InstructionSet?

  init(queue: JobQueue, niceness: Int32, instructionSet: InstructionSet?) {
    self.queue = queue
    self.niceness = niceness
    self.instructionSet = instructionSet
  }
}

/// The main function of a compute thread.
private func work(_ context: UnsafeMutableRawPointer) {
  unsafe sl_name_thread("sidelight-pixel")
  let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  if start.niceness > 0 { sl_set_thread_niceness(start.niceness) }
  start.instructionSet?.useOnThisThread()
  if start.queue.work() == .retired { start.threads.removeCurrent() }
}

/// The threads of a pool that have to be joined or detached.
final class ThreadList: Sendable {
  private let threads = Mutex<[pthread_t]>([])

  var count: Int { self.threads.withLock { $0.count } }

  /// Starts a thread and adds it, before it can leave.
  ///
  /// - Returns: Whether the thread started.
  func add(_ start: () -> pthread_t?) -> Bool {
    self.threads.withLock { threads in
      guard let thread = start() else { return false }
      threads.append(thread)
      return true
    }
  }

  /// Removes and detaches the calling thread, which is about to end.
  func removeCurrent() {
    let current = pthread_self()
    let wasListed = self.threads.withLock { threads in
      guard let index = threads.firstIndex(where: { pthread_equal($0, current) != 0 }) else {
        return false
      }
      threads.remove(at: index)
      return true
    }
    if wasListed { pthread_detach(current) }
  }

  /// Removes and returns all threads; the caller joins or detaches them.
  func removeAll() -> [pthread_t] {
    self.threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
  }
}
