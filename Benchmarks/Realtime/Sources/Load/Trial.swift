import BenchmarkClient

/// Loads that are sent at the same time.
struct Trial: Sendable {
  /// The result of a trial.
  struct Outcome: Sendable {
    /// The results of frames, by load.
    var tallies: [Tally]
    /// The usage of the server.
    var server: ProcessUsage.Span
    /// The usage of this process, which shares the machine.
    var sender: ProcessUsage.Span
    /// The measured time.
    var duration: Duration

    /// The results of all loads together.
    var total: Tally { self.tallies.reduce(into: Tally()) { $0.add($1) } }
    /// The filtered frames a second.
    var goodput: Double { Double(self.total.delivered) / (self.duration / .seconds(1)) }

    /// Adds the outcome of another run of the same loads.
    mutating func add(_ other: Outcome) {
      for index in self.tallies.indices { self.tallies[index].add(other.tallies[index]) }
      self.server.add(other.server)
      self.sender.add(other.sender)
      self.duration += other.duration
    }
  }

  /// The trial did not end.
  struct TimedOut: Error, CustomStringConvertible {
    var description: String { "A trial has not ended 60 s after its time." }
  }

  var loads: [Load]
  /// The time before the measurement, for compiling plans, learning costs and allocating buffers.
  var warmUp: Duration
  /// The measured time.
  var duration: Duration
  /// Whether connections use the server's Unix socket.
  var usesUnixSocket = false

  /// Sends the loads over separate connections.
  func run(against server: ServerProcess) async throws -> Outcome {
    let participants = self.loads.map(Participant.init)
    let startBarrier = StartBarrier(count: self.loads.count + 1)
    let length = self.warmUp + self.duration
    let (begin, usages) = try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, participant) in participants.enumerated() {
        let phase = Double(index) / Double(self.loads.count)
        group.addTask {
          try await Connection.open(
            to: self.usesUnixSocket ? .socket(server.socketPath) : .loopback(server.port)
          ) { connection in
            try await participant.run(on: connection) {
              let start = try await startBarrier.wait()
              return SendSchedule(start: start, end: start + length, phase: phase)
            }
          }
        }
      }
      group.addTask {
        try await Task.sleep(for: length + .seconds(60))
        throw TimedOut()
      }
      async let usages = self.watch(server, startBarrier)
      var running = participants.count
      while running > 0, try await group.next() != nil { running -= 1 }
      group.cancelAll()
      return try await usages
    }
    let window = begin + self.warmUp ..< begin + length
    return Outcome(
      tallies: participants.map { $0.tally(window) }, server: usages.server,
      sender: usages.sender, duration: self.duration)
  }

  private func watch(
    _ server: ServerProcess, _ startBarrier: StartBarrier
  ) async throws -> (
    ContinuousClock.Instant, (server: ProcessUsage.Span, sender: ProcessUsage.Span)
  ) {
    let start = try await startBarrier.wait()
    try await Task.sleep(until: start + self.warmUp)
    var usage = ProcessUsage.Span(process: server.identifier)
    var own = ProcessUsage.Span(process: "self")
    while ContinuousClock.now < start + self.warmUp + self.duration {
      try await Task.sleep(for: .milliseconds(50))
      usage.sample()
      own.sample()
    }
    return (start, (usage, own))
  }
}
