import CKernels
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Jobs waiting for a compute thread, first in, first out.
@safe
final class JobQueue: @unchecked Sendable {  // everything below is read and written under the lock
  private struct Entry {
    let job: UnownedJob
    /// Kept alive while the job runs: its last part may be what lets the pool's owner go.
    let pool: ComputePool
  }

  /// Why a thread has nothing more to do.
  enum End {
    /// The queue is closed and empty.
    case closed
    /// There are more threads than are wanted.
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
  /// How many threads are to end.
  private var retiring = 0
  /// How many entries wait; read without the lock by threads that are about to sleep.
  private let waiting = Atomic<Int>(0)
  /// How often a thread looks again before it sleeps: some 20 us. To be woken costs 40 us, and the
  /// bands of one pass follow those of the last within a few.
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

  /// Hands in a job.
  ///
  /// - Returns: `false` if the queue is closed; the job is still the caller's then.
  func append(_ job: UnownedJob, for pool: ComputePool) -> Bool {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    guard !self.isClosed else { return false }
    self.waiting.add(1, ordering: .releasing)
    self.entries.append(Entry(job: job, pool: pool))
    unsafe pthread_cond_signal(self.arrived)
    return true
  }

  /// The number of jobs for which there is room without allocating more.
  var capacity: Int {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    return self.entries.capacity
  }

  /// Lets the workers go once the queue is empty. A second call does nothing.
  func close() {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    self.isClosed = true
    unsafe pthread_cond_broadcast(self.arrived)
  }

  /// As many threads end when they next look for a job.
  func retire(_ count: Int) {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    self.retiring += count
    unsafe pthread_cond_broadcast(self.arrived)
  }

  /// One of the threads that were to end may stay.
  ///
  /// - Returns: Whether there was one that had not ended yet.
  func cancelRetirement() -> Bool {
    unsafe pthread_mutex_lock(self.lock)
    defer { unsafe pthread_mutex_unlock(self.lock) }
    guard self.retiring > 0 else { return false }
    self.retiring -= 1
    return true
  }

  /// Runs jobs until the queue is closed and empty, or the thread is not wanted any more.
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
        // It may have been woken for a job, which is another's then.
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
/// The ring doubles when it is full and halves when a quarter of it is used, so its capacity follows
/// the number of waiting elements and not the number that ever passed. Both operations take amortized
/// constant time.
package struct RingQueue<Element> {
  private var slots: [Element?]
  /// The slot of the first element.
  private var head = 0
  /// The number of waiting elements.
  package private(set) var count = 0

  /// The least capacity, to which the ring returns.
  package static var minimumCapacity: Int { 16 }

  package init() {
    self.slots = Array(repeating: nil, count: Self.minimumCapacity)
  }

  /// The number of elements for which there is room without allocating more.
  package var capacity: Int { self.slots.count }

  package var isEmpty: Bool { self.count == 0 }

  /// Adds an element behind the others.
  package mutating func append(_ element: Element) {
    if self.count == self.slots.count { self.resize(to: 2 * self.slots.count) }
    self.slots[(self.head + self.count) % self.slots.count] = element
    self.count += 1
  }

  /// Removes the element that was added first.
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
