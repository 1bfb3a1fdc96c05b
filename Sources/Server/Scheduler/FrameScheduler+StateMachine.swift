extension FrameScheduler {
  /// The kind of work of a turn.
  package enum TurnKind: Sendable, Hashable {
    /// A frame, work that a caller waits for, or work that protects.
    case frame
    /// The encoding of a frame that was filtered in its turn. It goes first, also if its session has
    /// had more service than others: a frame that waits for three turns would be late.
    case encoding
    /// Work that frames do not wait for and that takes longer than a frame, such as a search for
    /// faces that get stickers. If there are several threads, such turns leave one to frames, and
    /// let waiting frames go first until their deadline.
    case job
  }

  /// The decisions of a scheduler: which frame is next, and on how many threads. It returns actions
  /// and never waits itself.
  ///
  /// Uses earliest eligible virtual deadline first (Stoica, Abdel-Wahab, 1995) with the frames'
  /// deadlines: among the waiting sessions that have not had more service than the mean, the frame
  /// with the earliest deadline is next. A session with a high demand gets the remaining time of
  /// the others, and deadlines count only within a session's share. The encoding of a frame that was
  /// filtered in its turn goes first.
  ///
  /// A long turn pauses for waiting frames that are expected to take at most a quarter of its time
  /// and whose sessions have had no more service. Frames of similar cost never interrupt one
  /// another, because that would delay the first without helping the second.
  ///
  /// Jobs (``TurnKind``) take longer than frames and never occupy all threads, unless there is only
  /// one: sessions that search for faces at the same time would otherwise delay all frames.
  ///
  /// Some turns never reach a point where they could pause: a search of a picture, the drawing of a
  /// text, the compilation of a pipeline. A short frame of a session with no more service does not
  /// wait for them: after ``patience`` it runs on an additional thread (``lend(at:)``), and the
  /// kernel divides the processors meanwhile.
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
      /// The expected work, or `nil` if unknown.
      var cost: Duration?
      var kind = TurnKind.frame
      /// The time of the request.
      var since: Duration
    }

    /// A turn that has begun, or continued after a pause.
    private struct Running {
      var session: UInt64
      var kind: TurnKind
      /// The time at which it began or continued.
      var since: Duration
    }

    /// The time for which a short frame waits for a turn that does not pause.
    package static let patience = Duration.milliseconds(4)
    /// The maximum lead, in work, of a session over the session with the most service.
    package static let maxLag = Duration.seconds(1)

    /// The minimum ratio of a turn's cost to a frame's cost at which the turn pauses.
    private static let pauseRatio = 4

    /// The time for which a session counts as active after a request.
    private static let activeFor = Duration.milliseconds(200)
    /// The time over which demand is averaged.
    private static let demandWindow = Duration.seconds(2)

    private let threads: Int
    private var running: [Running] = []
    /// The running turns on additional threads.
    private var additionalTurns = 0
    private var requests: [Request] = []
    /// The turns that have paused and wait to continue, the latest last.
    private var paused: [Request] = []
    /// The sessions that were active when the last turn began.
    package private(set) var activeSessions = 0
    private var accounts: [UInt64: Account] = [:]
    /// The highest service of a session that has been granted a turn. An idle session continues
    /// from here if all others are idle too: it does not accumulate a share.
    private var virtualTime = Duration.zero
    private var nextTicket: UInt64 = 0

    /// - Parameter threads: The number of compute threads, at least 1.
    package init(threads: Int) {
      self.threads = max(1, threads)
    }

    /// The number of requests that wait, without paused turns.
    package var waitingCount: Int { self.requests.count }

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
      /// Whether the turn needs an additional thread, because all threads of the pool are held.
      package var isAdditional: Bool

      package init(ticket: UInt64, bands: Int, isAdditional: Bool = false) {
        self.ticket = ticket
        self.bands = bands
        self.isAdditional = isAdditional
      }
    }

    /// Requests a turn.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the frame should be done.
    ///   - cost: The expected work, or `nil` if unknown.
    ///   - kind: The kind of work.
    package mutating func request(
      session: UInt64, deadline: Duration, cost: Duration? = nil, kind: TurnKind = .frame,
      at now: Duration
    ) -> Answer {
      var account = self.account(of: session, at: now)
      account.service = max(account.service, self.startingService)
      account.lastSeen = now
      self.accounts[session] = account
      let request = Request(
        ticket: self.nextTicket, session: session, deadline: deadline, cost: cost, kind: kind,
        since: now)
      guard self.running.count < self.threads, self.admits(kind) else {
        self.nextTicket += 1
        self.requests.append(request)
        return .wait(ticket: request.ticket)
      }
      return .run(bands: self.start(request, at: now))
    }

    /// Ends a turn.
    ///
    /// - Parameters:
    ///   - work: The work, in time of one thread.
    ///   - isAdditional: Whether the turn had an additional thread.
    /// - Returns: The next turn, or `nil` if no session waits.
    package mutating func finish(
      session: UInt64, work: Duration, kind: TurnKind = .frame, isAdditional: Bool = false,
      at now: Duration
    ) -> Grant? {
      self.removeRunning(session, kind)
      if isAdditional { self.additionalTurns -= 1 }
      self.charge(session: session, work: work)
      return self.next(at: now) ?? self.lend(at: now)
    }

    /// A turn that pauses.
    package struct Pause: Sendable, Equatable {
      /// The ticket with which the turn continues.
      package var ticket: UInt64
      /// The turn for which it pauses.
      package var grant: Grant

      package init(ticket: UInt64, grant: Grant) {
        self.ticket = ticket
        self.grant = grant
      }
    }

    /// Pauses a turn if a much shorter one waits that goes first.
    ///
    /// - Parameters:
    ///   - deadline: The deadline of the turn's frame.
    ///   - cost: The expected work of the whole turn, at least the work so far.
    ///   - work: The work since the turn began or continued, which the session is charged for if
    ///     the turn pauses.
    /// - Returns: `nil` if the turn does not pause.
    package mutating func pause(
      session: UInt64, deadline: Duration, cost: Duration, work: Duration, at now: Duration
    ) -> Pause? {
      let service = self.service(of: session) + work
      guard let index = self.shortRequest(cost: cost, service: service) else { return nil }
      self.removeRunning(session, .frame)
      self.charge(session: session, work: work)
      let turn = Request(
        ticket: self.nextTicket, session: session, deadline: deadline, cost: cost, since: now)
      self.nextTicket += 1
      self.paused.append(turn)
      return Pause(
        ticket: turn.ticket, grant: self.grant(self.requests.remove(at: index), at: now))
    }

    /// Returns the time until ``lend(at:)`` may have to serve a waiting frame, because a turn has
    /// taken much longer than the frame will, or `nil` unless a frame of known cost waits.
    package func timeToLend(at now: Duration) -> Duration? {
      var earliest: Duration?
      for request in self.requests where request.kind != .job {
        guard let cost = request.cost else { continue }
        for turn in self.running where turn.session != request.session {
          let due = max(
            request.since + Self.patience,
            turn.since + max(Self.patience, cost * Self.pauseRatio))
          earliest = min(earliest ?? due, due)
        }
      }
      return earliest.map { max($0 - now, Self.patience) }
    }

    /// Grants a turn on an additional thread to a frame that is held up by much longer turns.
    ///
    /// - Returns: `nil` if no such frame waits, or if the additional threads in use are as many as
    ///   the long turns.
    package mutating func lend(at now: Duration) -> Grant? {
      let long = self.running.count { now - $0.since >= Self.patience }
      guard self.additionalTurns < min(long, self.threads) else { return nil }
      var first: Int?
      for (index, request) in self.requests.enumerated()
      where request.kind != .job && now - request.since >= Self.patience {
        guard self.running.contains(where: { self.isHeldUp(request, by: $0, at: now) }) else {
          continue
        }
        if let earlier = first, self.requests[earlier].deadline <= request.deadline { continue }
        first = index
      }
      guard let index = first else { return nil }
      self.additionalTurns += 1
      var grant = self.grant(self.requests.remove(at: index), at: now)
      grant.isAdditional = true
      return grant
    }

    /// Returns whether a turn has taken much longer than a waiting frame will, and its session has
    /// had no less service.
    private func isHeldUp(_ request: Request, by turn: Running, at now: Duration) -> Bool {
      guard let cost = request.cost, turn.session != request.session else { return false }
      let held = now - turn.since
      return held >= max(Self.patience, cost * Self.pauseRatio)
        && self.service(of: request.session) <= self.service(of: turn.session) + held
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

    /// Returns the arriving work, relative to the capacity of the threads.
    package func load(at now: Duration) -> Double {
      self.demands(at: now).values.reduce(0, +)
    }

    /// Returns the arriving work by session, relative to the capacity of the threads.
    package func demands(at now: Duration) -> [UInt64: Double] {
      self.accounts.mapValues { account in
        account.demand * Self.decay(over: now - account.lastArrival) / Double(self.threads)
      }
    }

    /// Withdraws a request.
    ///
    /// - Returns: Whether it was still waiting. If not, its turn has come, and must be ended using
    ///   ``finish``.
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
        ?? Account(service: self.startingService, lastSeen: now, lastArrival: now)
    }

    private mutating func next(at now: Duration) -> Grant? {
      guard self.running.count < self.threads else { return nil }
      if let turn = self.paused.last {
        // Other requests wait until the turn that began before them is done.
        let first = self.shortRequest(
          cost: turn.cost ?? .zero, service: self.service(of: turn.session))
        let request = first.map { self.requests.remove(at: $0) } ?? self.paused.removeLast()
        return self.grant(request, at: now)
      }
      let frameWaits = self.requests.contains { $0.kind != .job }
      let waiting = self.requests.indices.filter { index in
        let request = self.requests[index]
        let yields = request.kind == .job && frameWaits && now < request.deadline
        return self.admits(request.kind) && !yields
      }
      guard !waiting.isEmpty else { return nil }
      let filtered = waiting.filter { self.requests[$0].kind == .encoding }
      if let first = filtered.min(by: { self.requests[$0].deadline < self.requests[$1].deadline }) {
        return self.grant(self.requests.remove(at: first), at: now)
      }
      let services = self.requests.map { self.service(of: $0.session) }
      let mean = waiting.reduce(.zero) { $0 + services[$1] } / waiting.count
      let eligible = waiting.filter { services[$0] <= mean }
      let index =
        eligible.min { self.requests[$0].deadline < self.requests[$1].deadline }
        // Because of rounding, all services can be above the mean.
        ?? waiting.min { services[$0] < services[$1] }
      return index.map { self.grant(self.requests.remove(at: $0), at: now) }
    }

    /// Whether a turn of a kind may begin when a thread is free.
    private func admits(_ kind: TurnKind) -> Bool {
      kind != .job
        || self.running.count { $0.kind == .job } < max(1, self.threads - 1)
    }

    /// Returns the index of the request with the earliest deadline that a turn pauses for, if any.
    ///
    /// - Parameters:
    ///   - cost: The expected work of the turn.
    ///   - service: The service of the turn's session.
    private func shortRequest(cost: Duration, service: Duration) -> Int? {
      self.requests.indices.filter { index in
        guard let other = self.requests[index].cost else { return false }
        return other * Self.pauseRatio <= cost
          && self.service(of: self.requests[index].session) <= service
      }
      .min { self.requests[$0].deadline < self.requests[$1].deadline }
    }

    private func service(of session: UInt64) -> Duration {
      self.accounts[session]?.service ?? .zero
    }

    /// The lowest service of the running and waiting sessions, if any. A session that needs less
    /// than its share continues from here with every frame: it goes before all sessions that need
    /// more, and does not accumulate a share.
    private var minService: Duration? {
      var least: Duration?
      for turn in self.running { least = self.lesser(least, turn.session) }
      for request in self.requests { least = self.lesser(least, request.session) }
      for request in self.paused { least = self.lesser(least, request.session) }
      return least
    }

    /// The lesser of a service and a session's service, unless the session has left.
    private func lesser(_ least: Duration?, _ session: UInt64) -> Duration? {
      guard let service = self.accounts[session]?.service else { return least }
      return least.map { min($0, service) } ?? service
    }

    /// The lowest service with which a session, including a new one, can continue: the lowest
    /// service of the active sessions, but at most ``maxLag`` below the highest.
    private var startingService: Duration {
      max(self.minService ?? self.virtualTime, self.virtualTime - Self.maxLag)
    }

    private mutating func grant(_ request: Request, at now: Duration) -> Grant {
      Grant(ticket: request.ticket, bands: self.start(request, at: now))
    }

    private mutating func start(_ request: Request, at now: Duration) -> Int {
      self.running.append(Running(session: request.session, kind: request.kind, since: now))
      if let account = self.accounts[request.session] {
        self.virtualTime = max(self.virtualTime, account.service)
      }
      self.activeSessions = self.accounts.values.count { now - $0.lastSeen <= Self.activeFor }
      return max(1, self.threads / max(1, self.activeSessions, self.running.count))
    }

    /// Removes a turn of a session: the first, because the machine cannot distinguish its turns.
    private mutating func removeRunning(_ session: UInt64, _ kind: TurnKind) {
      let index = self.running.firstIndex { $0.session == session && $0.kind == kind }
      if let index { self.running.remove(at: index) }
    }

    /// Returns the factor by which an average decays over some time: linear, a close approximation
    /// of an exponential that doesn't need a library.
    private static func decay(over elapsed: Duration) -> Double {
      max(0, 1 - max(0, elapsed / Self.demandWindow))
    }
  }
}
