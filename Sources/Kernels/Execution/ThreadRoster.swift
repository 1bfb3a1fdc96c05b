import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
