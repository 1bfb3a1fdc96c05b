extension FrameScheduler {
  /// Decides whose frame is computed next, and over how many threads. Decides without waiting for
  /// anything itself.
  ///
  /// After earliest eligible virtual deadline first (Stoica, Abdel-Wahab, 1995), but with the frames' own
  /// deadlines: among the sessions that
  /// have not had more than the mean of those that wait, the frame goes first whose time runs out
  /// first. So a session that asks for much is served from what the others leave, and a deadline
  /// counts only for whoever is within his share.
  package struct StateMachine: ~Copyable {
    /// A session's account with the scheduler.
    private struct Account {
      /// The work that was done for it, in the time of one thread.
      var service: Duration
      /// When it last asked.
      var lastSeen: Duration
      /// The work that it brings, as a part of one thread; decays with time.
      var demand: Double = 0
      /// When that was last averaged.
      var lastArrival: Duration
    }

    private struct Request {
      var ticket: UInt64
      var session: UInt64
      var deadline: Duration
    }

    /// Sessions that asked within this time count when threads are shared out.
    private static let activeFor = Duration.milliseconds(200)
    /// Over which time demand is averaged.
    private static let demandWindow = Duration.seconds(2)

    private let threads: Int
    private var running = 0
    private var requests: [Request] = []
    private var accounts: [UInt64: Account] = [:]
    /// The service of whoever was let in last: who was away takes up from here, and has not saved up.
    private var virtualTime = Duration.zero
    private var nextTicket: UInt64 = 0

    /// - Parameter threads: Threads that compute; at least 1.
    package init(threads: Int) {
      self.threads = max(1, threads)
    }

    package enum Answer: Sendable, Equatable {
      /// Go on, over so many threads.
      case run(bands: Int)
      /// Wait, under this number.
      case wait(ticket: UInt64)
    }

    /// A request whose turn has come.
    package struct Grant: Sendable, Equatable {
      package var ticket: UInt64
      package var bands: Int

      package init(ticket: UInt64, bands: Int) {
        self.ticket = ticket
        self.bands = bands
      }
    }

    /// A session's frame wants to be computed.
    ///
    /// - Parameters:
    ///   - session: The session's number.
    ///   - deadline: When the frame should be done.
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

    /// A frame is done.
    ///
    /// - Parameters:
    ///   - session: The session's number.
    ///   - work: What it cost, in the time of one thread.
    /// - Returns: Whose turn it is now.
    package mutating func finish(
      session: UInt64, work: Duration, at now: Duration
    ) -> Grant? {
      self.running -= 1
      self.charge(session: session, work: work)
      return self.next(at: now)
    }

    /// A session has had threads beyond its turn: work that did not come back in time, on threads
    /// that others stood in for.
    package mutating func charge(session: UInt64, work: Duration) {
      self.accounts[session]?.service += work
    }

    /// Work arrives, whether it will be done or not.
    ///
    /// - Parameter work: What it costs one thread.
    package mutating func recordArrival(work: Duration, session: UInt64, at now: Duration) {
      var account = self.account(of: session, at: now)
      account.demand *= Self.decay(over: now - account.lastArrival)
      account.demand += work / Self.demandWindow
      account.lastArrival = now
      self.accounts[session] = account
    }

    /// The work that arrives, as a part of what the threads can do.
    package func load(at now: Duration) -> Double {
      let demand = self.accounts.values.reduce(0) { sum, account in
        sum + account.demand * Self.decay(over: now - account.lastArrival)
      }
      return demand / Double(self.threads)
    }

    /// Whoever waits under that number does not any more.
    ///
    /// - Returns: Whether it still waited; if not, its turn had come, and it has to ``finish``.
    package mutating func withdraw(ticket: UInt64) -> Bool {
      guard let index = self.requests.firstIndex(where: { $0.ticket == ticket }) else {
        return false
      }
      self.requests.remove(at: index)
      return true
    }

    /// A session is over.
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
        // Rounding can leave nobody at or below the mean.
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

    /// What is left of an average after some time: linear, which is near enough to an exponential and
    /// needs no library.
    private static func decay(over elapsed: Duration) -> Double {
      max(0, 1 - max(0, elapsed / Self.demandWindow))
    }
  }
}
