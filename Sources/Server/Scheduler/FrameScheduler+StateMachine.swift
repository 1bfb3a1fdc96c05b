extension FrameScheduler {
  /// The decisions of a scheduler: which frame is next, and on how many threads. It returns actions
  /// and never waits itself.
  ///
  /// After earliest eligible virtual deadline first (Stoica, Abdel-Wahab, 1995), but with the
  /// deadlines of the frames: among the waiting sessions that have not had more service than the
  /// mean, the frame with the earliest deadline is next. So a session with a high demand gets what
  /// the others leave, and deadlines count only within a session's share.
  package struct StateMachine: ~Copyable {
    /// A session's account with the scheduler.
    private struct Account {
      /// The work that was done for it, in time of one thread.
      var service: Duration
      /// The time of its last request.
      var lastSeen: Duration
      /// The work that arrives, relative to one thread; decays with time.
      var demand: Double = 0
      /// The time at which the demand was last updated.
      var lastArrival: Duration
    }

    private struct Request {
      var ticket: UInt64
      var session: UInt64
      var deadline: Duration
    }

    /// The time for which a session counts as active after a request.
    private static let activeFor = Duration.milliseconds(200)
    /// The time over which demand is averaged.
    private static let demandWindow = Duration.seconds(2)

    private let threads: Int
    private var running = 0
    private var requests: [Request] = []
    private var accounts: [UInt64: Account] = [:]
    /// The service of the session that got the last turn. An idle session continues from here: it
    /// does not accumulate a share.
    private var virtualTime = Duration.zero
    private var nextTicket: UInt64 = 0

    /// - Parameter threads: The number of compute threads, at least 1.
    package init(threads: Int) {
      self.threads = max(1, threads)
    }

    package enum Answer: Sendable, Equatable {
      /// Run on a number of threads.
      case run(bands: Int)
      /// Wait for the grant of a ticket.
      case wait(ticket: UInt64)
    }

    /// A ticket whose turn has come.
    package struct Grant: Sendable, Equatable {
      package var ticket: UInt64
      package var bands: Int

      package init(ticket: UInt64, bands: Int) {
        self.ticket = ticket
        self.bands = bands
      }
    }

    /// Requests a turn.
    ///
    /// - Parameters:
    ///   - session: The session's number.
    ///   - deadline: The time at which the frame should be done.
    ///   - now: The time.
    package mutating func request(
      session: UInt64, deadline: Duration, at now: Duration
    ) -> Answer {
      var account = self.account(of: session, at: now)
      account.service = max(account.service, self.virtualTime)
      account.lastSeen = now
      self.accounts[session] = account
      guard self.running < self.threads else {
        let ticket = self.nextTicket
        self.nextTicket += 1
        self.requests.append(Request(ticket: ticket, session: session, deadline: deadline))
        return .wait(ticket: ticket)
      }
      return .run(bands: self.start(session, at: now))
    }

    /// Ends a turn.
    ///
    /// - Parameters:
    ///   - session: The session's number.
    ///   - work: The work, in time of one thread.
    /// - Returns: The next turn; `nil` if there is none.
    package mutating func finish(
      session: UInt64, work: Duration, at now: Duration
    ) -> Grant? {
      self.running -= 1
      self.charge(session: session, work: work)
      return self.next(at: now)
    }

    /// Charges a session for threads that overdue work occupied after its turn.
    package mutating func charge(session: UInt64, work: Duration) {
      self.accounts[session]?.service += work
    }

    /// Records that work arrives, whether it will be done or not.
    ///
    /// - Parameter work: The time that one thread would need for it.
    package mutating func recordArrival(work: Duration, session: UInt64, at now: Duration) {
      var account = self.account(of: session, at: now)
      account.demand *= Self.decay(over: now - account.lastArrival)
      account.demand += work / Self.demandWindow
      account.lastArrival = now
      self.accounts[session] = account
    }

    /// Returns the work that arrives, relative to the capacity of the threads.
    package func load(at now: Duration) -> Double {
      let demand = self.accounts.values.reduce(0) { sum, account in
        sum + account.demand * Self.decay(over: now - account.lastArrival)
      }
      return demand / Double(self.threads)
    }

    /// Withdraws a request.
    ///
    /// - Returns: Whether it was still waiting; if not, its turn has come, and ``finish`` must end
    ///   it.
    package mutating func withdraw(ticket: UInt64) -> Bool {
      guard let index = self.requests.firstIndex(where: { $0.ticket == ticket }) else {
        return false
      }
      self.requests.remove(at: index)
      return true
    }

    /// Removes a session.
    package mutating func leave(session: UInt64) {
      self.accounts[session] = nil
    }

    private func account(of session: UInt64, at now: Duration) -> Account {
      self.accounts[session]
        ?? Account(service: self.virtualTime, lastSeen: now, lastArrival: now)
    }

    private mutating func next(at now: Duration) -> Grant? {
      guard self.running < self.threads, !self.requests.isEmpty else { return nil }
      func service(_ request: Request) -> Duration {
        self.accounts[request.session]?.service ?? .zero
      }
      let mean = self.requests.map(service).reduce(.zero, +) / self.requests.count
      let eligible = self.requests.indices.filter { service(self.requests[$0]) <= mean }
      let index =
        eligible.min { self.requests[$0].deadline < self.requests[$1].deadline }
        // Rounding can leave no session at or below the mean.
        ?? self.requests.indices.min { service(self.requests[$0]) < service(self.requests[$1]) }
      guard let index else { return nil }
      let request = self.requests.remove(at: index)
      return Grant(ticket: request.ticket, bands: self.start(request.session, at: now))
    }

    private mutating func start(_ session: UInt64, at now: Duration) -> Int {
      self.running += 1
      if let account = self.accounts[session] {
        self.virtualTime = max(self.virtualTime, account.service)
      }
      let active = self.accounts.values.count { now - $0.lastSeen <= Self.activeFor }
      return max(1, self.threads / max(1, active, self.running))
    }

    /// Returns the factor by which an average decays over some time: linear, which is close enough
    /// to an exponential and needs no library.
    private static func decay(over elapsed: Duration) -> Double {
      max(0, 1 - max(0, elapsed / Self.demandWindow))
    }
  }
}
