import BenchmarkClient

/// Loads that are sent together, for a time.
struct Trial: Sendable {
  /// What was seen.
  struct Outcome: Sendable {
    /// What became of the frames, by load.
    var tallies: [Tally]
    /// What the server used.
    var server: ProcessUsage.Span
    /// What this process used: it takes its processor time from the same machine.
    var sender: ProcessUsage.Span
    /// For how long was measured.
    var duration: Duration

    /// Of all loads together.
    var total: Tally { self.tallies.reduce(into: Tally()) { $0.add($1) } }
    /// Frames made a second.
    var goodput: Double { Double(self.total.made) / (self.duration / .seconds(1)) }

    /// The same loads were sent once more.
    mutating func add(_ other: Outcome) {
      for index in self.tallies.indices { self.tallies[index].add(other.tallies[index]) }
      self.server.add(other.server)
      self.sender.add(other.sender)
      self.duration += other.duration
    }
  }

  /// A trial that did not end.
  struct Stuck: Error, CustomStringConvertible {
    var description: String { "A trial has not ended 60 s after its time." }
  }

  var loads: [Load]
  /// Plans are compiled, costs learned and buffers made in this time, which is not measured.
  var warmUp: Duration
  /// What is measured.
  var duration: Duration

  /// Sends the loads, one connection a load.
  func run(against server: ServerProcess) async throws -> Outcome {
    let participants = self.loads.map(Participant.init)
    let startLine = StartLine(count: self.loads.count + 1)
    let length = self.warmUp + self.duration
    let (begin, usages) = try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, participant) in participants.enumerated() {
        let phase = Double(index) / Double(self.loads.count)
        group.addTask {
          try await Connection.open(to: .loopback(server.port)) { connection in
            try await participant.run(on: connection) {
              let start = try await startLine.wait()
              return Timetable(start: start, end: start + length, phase: phase)
            }
          }
        }
      }
      group.addTask {
        try await Task.sleep(for: length + .seconds(60))
        throw Stuck()
      }
      async let usages = self.watch(server, startLine)
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
    _ server: ServerProcess, _ startLine: StartLine
  ) async throws -> (
    ContinuousClock.Instant, (server: ProcessUsage.Span, sender: ProcessUsage.Span)
  ) {
    let start = try await startLine.wait()
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
