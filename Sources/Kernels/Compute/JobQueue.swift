import CKernels
import Synchronization

/// A queue of jobs for the compute threads, first in, first out.
@safe
final class JobQueue: @unchecked Sendable {  // everything below is read and written under the lock
  private struct Entry {
    let job: UnownedJob
    /// Retained while the job runs: the end of the job may release the pool's owner.
    let pool: ComputePool
  }

  /// The reason why a thread ends.
  enum End {
    /// The queue is closed and empty.
    case closed
    /// The pool has more threads than it needs.
    case retired
  }

  private enum Next {
    case run(Entry)
    case end(End)
  }

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private var entries = RingQueue<Entry>()
  private var isClosed = false
  /// The number of threads that are asked to end.
  private var retiring = 0
  /// The number of waiting entries. Threads that are about to sleep read it without the lock.
  private let waiting = Atomic<Int>(0)
  /// The number of polls before a thread sleeps, some 20 us: waking a thread costs 40 us, and a
  /// pass's bands follow the previous pass's bands within a few.
  private static let spins = 1000

  init() {
    unsafe self.lock = .allocate(capacity: 1)
    unsafe self.arrived = .allocate(capacity: 1)
    unsafe pthread_mutex_init(self.lock, nil)
    unsafe pthread_cond_init(self.arrived, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(self.arrived)
    unsafe pthread_mutex_destroy(self.lock)
    unsafe self.arrived.deallocate()
    unsafe self.lock.deallocate()
  }

  /// Appends a job.
  ///
  /// - Returns: `false` if the queue is closed; the caller keeps the job.
  func append(_ job: UnownedJob, for pool: ComputePool) -> Bool {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    guard !self.isClosed else { return false }
    self.waiting.add(1, ordering: .releasing)
    self.entries.append(Entry(job: job, pool: pool))
    unsafe pthread_cond_signal(self.arrived)
    return true
  }

  var hasWaitingJobs: Bool { self.waiting.load(ordering: .relaxed) > 0 }

  /// The number of jobs that fit without allocating memory.
  var capacity: Int {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    return self.entries.capacity
  }

  /// Closes the queue: threads end when it is empty. A second call has no effect.
  func close() {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    self.isClosed = true
    unsafe pthread_cond_broadcast(self.arrived)
  }

  /// Asks threads to end when they next look for a job.
  func retire(_ count: Int) {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    self.retiring += count
    unsafe pthread_cond_broadcast(self.arrived)
  }

  /// Cancels the retirement of one thread.
  ///
  /// - Returns: Whether a thread was asked to end and had not ended yet.
  func cancelRetirement() -> Bool {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    guard self.retiring > 0 else { return false }
    self.retiring -= 1
    return true
  }

  /// Runs jobs until the queue is closed and empty, or the thread is asked to end.
  func work() -> End {
    while true {
      switch self.next() {
      case .run(let entry):
        unsafe entry.job.runSynchronously(on: entry.pool.asUnownedTaskExecutor())
      case .end(let end): return end
      }
    }
  }

  private func next() -> Next {
    for _ in 0 ..< Self.spins where self.waiting.load(ordering: .acquiring) == 0 { sl_pause() }
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    while true {
      if self.retiring > 0 {
        self.retiring -= 1
        // The thread may have been woken for a job, which another thread must take.
        if !self.entries.isEmpty { unsafe pthread_cond_signal(self.arrived) }
        return .end(.retired)
      }
      if let entry = self.entries.popFirst() {
        self.waiting.subtract(1, ordering: .relaxed)
        return .run(entry)
      }
      if self.isClosed { return .end(.closed) }
      unsafe pthread_cond_wait(self.arrived, self.lock)
    }
  }
}

/// A first-in, first-out queue in a ring of memory.
///
/// The ring doubles when it is full and halves when at most a quarter of it is used, which adapts
/// its capacity to the number of waiting elements. Both operations take amortized constant time.
package struct RingQueue<Element> {
  private var slots: [Element?]
  /// The slot of the first element.
  private var head = 0
  /// The number of waiting elements.
  package private(set) var count = 0

  package static var minimumCapacity: Int { 16 }

  package init() {
    self.slots = Array(repeating: nil, count: Self.minimumCapacity)
  }

  /// The number of elements that fit without allocating memory.
  package var capacity: Int { self.slots.count }

  package var isEmpty: Bool { self.count == 0 }

  package mutating func append(_ element: Element) {
    if self.count == self.slots.count { self.resize(to: 2 * self.slots.count) }
    self.slots[(self.head + self.count) % self.slots.count] = element
    self.count += 1
  }

  /// Removes and returns the element that was appended first.
  ///
  /// - Returns: `nil` if the queue is empty.
  package mutating func popFirst() -> Element? {
    guard self.count > 0 else { return nil }
    let element = self.slots[self.head].take()
    self.head = (self.head + 1) % self.slots.count
    self.count -= 1
    if self.slots.count > Self.minimumCapacity, self.count <= self.slots.count / 4 {
      self.resize(to: self.slots.count / 2)
    }
    return element
  }

  private mutating func resize(to capacity: Int) {
    var slots = [Element?](repeating: nil, count: capacity)
    for index in 0 ..< self.count {
      slots[index] = self.slots[(self.head + index) % self.slots.count]
    }
    self.slots = slots
    self.head = 0
  }
}
