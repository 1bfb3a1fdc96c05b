import SidelightWire

/// The load that a server reports to proxies and to other servers: the arriving work, and a credit
/// for sessions that have just been opened.
///
/// The work of a session is known after a few seconds. Without a credit, all sessions that open
/// meanwhile would go to the server that had the lowest load before.
package struct ReportedLoad: Sendable, Hashable {
  /// A session's age, and its work relative to the capacity of the compute threads.
  package struct Session: Sendable, Hashable {
    package var age: Duration
    package var work: Double

    package init(age: Duration, work: Double) {
      self.age = age
      self.work = work
    }
  }

  /// The age from which a session's work is known.
  package static let settlingTime = Duration.seconds(5)
  /// The expected work of a session if no other is known: of 720p30 on four threads.
  package static let usualWork = 1.0 / 64
  /// The minimum of a report. Weights are the inverse of the load, and an idle server would
  /// otherwise get all sessions until its next report.
  package static let minimum = 0.05

  /// The load, at least ``minimum``; may exceed 1.
  package let value: Double

  /// - Parameters:
  ///   - work: The arriving work, relative to the capacity of the compute threads.
  ///   - sessions: The open sessions.
  package init(work: Double, sessions: [Session]) {
    let settled = sessions.filter { $0.age >= Self.settlingTime }
    let expected =
      settled.isEmpty
      ? Self.usualWork : settled.reduce(0) { $0 + $1.work } / Double(settled.count)
    let credit = sessions.filter { $0.age < Self.settlingTime }
      .reduce(0) { $0 + max(0, expected - $1.work) }
    self.value = max(Self.minimum, work + credit)
  }
}

extension Engine {
  /// The load to report now.
  var reportedLoad: Double {
    let demands = self.processing.scheduler.demands
    let now = self.clock.now()
    let sessions = self.admission.sessions.unorderedHandles.map { handle in
      ReportedLoad.Session(age: now - handle.opened, work: demands[handle.number] ?? 0)
    }
    return ReportedLoad(work: demands.values.reduce(0, +), sessions: sessions).value
  }
}
