import BenchmarkSupport

/// Seven modest sessions, with and without a noisy neighbour.
struct NoisyNeighbour: Measurement {
  private static let modestSessions = 7

  private enum Neighbour: String, CaseIterable {
    case none = "none"
    case honouring = "240 fps, honours the window"
    case ignoring = "240 fps, ignores it"
  }

  func run(_ settings: Settings) async throws -> Section {
    var modest: [Neighbour: [Trial.Outcome]] = [:]
    // A few hundred frames per round, to reduce the influence of chance on the slowest twentieth.
    let duration = settings.duration(
      for: settings.isQuick ? 400 : 800, perSecond: 30 * Double(Self.modestSessions))
    // In turns: other work of the machine affects all of them.
    for _ in 0 ..< 3 {
      for neighbour in Neighbour.allCases {
        let trial = Trial(
          loads: Self.loads(neighbour), warmUp: settings.warmUp, duration: duration)
        let outcome = try await ServerProcess.run(settings) {
          try await trial.run(against: $0)
        }
        modest[neighbour, default: []].append(outcome)
        Progress.report("noisy neighbour: \(neighbour.rawValue)", outcome)
      }
    }
    func tally(_ neighbour: Neighbour, _ tallies: (Trial.Outcome) -> ArraySlice<Tally>) -> Tally {
      (modest[neighbour] ?? []).flatMap { Array(tallies($0)) }
        .reduce(into: Tally()) { $0.add($1) }
    }
    let alone = tally(.none) { $0.tallies.prefix(Self.modestSessions) }
    var table = Table([
      "noisy neighbour", "modest p50 ms", "p95 ms", "p99 ms", "p95 to none", "drops",
      "neighbour filtered", "dropped",
    ])
    var checks: [Check] = [.accounting(modest.values.flatMap(\.self), "noisy neighbour")]
    for neighbour in Neighbour.allCases {
      let modest = tally(neighbour) { $0.tallies.prefix(Self.modestSessions) }
      let noisy = tally(neighbour) { $0.tallies.dropFirst(Self.modestSessions) }
      let ratio = modest.ages.percentile(95) / alone.ages.percentile(95)
      table.add([
        neighbour.rawValue, modest.ages.percentile(50).milliseconds,
        modest.ages.percentile(95).milliseconds, modest.ages.percentile(99).milliseconds,
        ratio.text(2), modest.droppedFraction.percent, "\(noisy.delivered)", noisy.reasons,
      ])
      guard neighbour != .none else { continue }
      checks.append(
        Check(
          "p95 of 7 modest sessions with a noisy neighbour (\(neighbour.rawValue))",
          measured: "\(ratio.text(2)) times the p95 without", limit: "<= 1.5", holds: ratio <= 1.5))
    }
    return Section(title: "A noisy neighbour", text: Self.text, table: table, checks: checks)
  }

  private static let text = """
    \(modestSessions) sessions send 720p through `\(Pipeline.vintage.name)` at 30 frames a second; \
    the neighbour sends 720p through `\(Pipeline.expensive.name)` at 240. The runs with and without \
    it take turns.
    """

  private static func loads(_ neighbour: Neighbour) -> [Load] {
    let modest = Load(pipeline: .vintage, pace: .openLoop(framesPerSecond: 30))
    let noisy = Load(
      pipeline: .expensive, pace: .openLoop(framesPerSecond: 240),
      honoursWindow: neighbour == .honouring)
    return Array(repeating: modest, count: Self.modestSessions)
      + (neighbour == .none ? [] : [noisy])
  }
}
