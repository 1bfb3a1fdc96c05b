import SidelightTransport

/// The numbers of threads of a server, for the processors that it may use.
package struct ThreadCounts: Sendable, Hashable {
  /// The threads that filter.
  package var compute: Int
  /// The event loops, which carry connections.
  package var eventLoops: Int

  package init(compute: Int, eventLoops: Int) {
    self.compute = compute
    self.eventLoops = eventLoops
  }

  /// Chooses the numbers (decision 49 has the measurements).
  ///
  /// A compute thread per processor. A quota is rounded down: threads that together use more than
  /// it are stopped for the rest of the period of usually 100 ms, and the event loops with them.
  ///
  /// An event loop per processor, but four on two or three processors: a small message waits for
  /// the large ones of its loop, and with four loops the system runs another loop meanwhile. On one
  /// processor more loops only cost changes of thread. A quota is rounded up, because event loops
  /// are idle most of the time.
  package init(for processors: AvailableProcessors) {
    let quota = min(processors.quota ?? .infinity, Double(processors.count))
    let rounded = max(1, Int(quota.rounded(.up)))
    self.init(compute: max(1, Int(quota)), eventLoops: rounded == 1 ? 1 : max(4, rounded))
  }

  /// The numbers for this process.
  package static let ofThisProcess = ThreadCounts(for: .ofThisProcess)

  /// Sets the number of event loops that the process shares. Must be called once, before they are
  /// used.
  ///
  /// - Parameter workers: The number of processes that share the processors.
  package func apply(sharedAmong workers: Int = 1) {
    EventLoops.setSharedCount(max(1, self.eventLoops / workers))
  }
}
