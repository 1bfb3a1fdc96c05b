import BenchmarkSupport
import GRPCCore

/// Modest sessions next to sessions that keep all threads busy, most with work that cannot pause.
struct CostlyNeighbours: Measurement {
  private struct Case: Sendable {
    /// The number of modest sessions.
    var modest = 1
    var count: Int
    var load: Load

    var name: String {
      self.count == 0 ? "none" : "\(self.count) x \(self.load.picture) \(self.load.pipeline.name)"
    }
  }

  private static let rate = 30.0
  private static let modest = Load(
    pipeline: .sepia, picture: .small, pace: .openLoop(framesPerSecond: rate))

  func run(_ settings: Settings) async throws -> Section {
    var table = Table([
      "neighbours", "modest sessions", "fps of each", "of offered", "p50 ms", "p95 ms", "p99 ms",
      "drops by reason",
      "neighbours filtered", "CPU", "sender's",
    ])
    var checks: [Check] = []
    for test in Self.cases {
      let trial = Trial(
        loads: Array(repeating: Self.modest, count: test.modest)
          + Array(repeating: test.load, count: test.count),
        warmUp: settings.warmUp,
        duration: settings.duration(for: settings.isQuick ? 120 : 300, perSecond: Self.rate))
      let outcome: Trial.Outcome
      do {
        outcome = try await ServerProcess.run(settings) { try await trial.run(against: $0) }
      } catch let error as RPCError {
        // A server without Vision, or without fonts.
        table.add([test.name, "not measured: \(error.message)"] + Array(repeating: "", count: 9))
        continue
      }
      Progress.report("costly neighbours: \(test.name)", outcome)
      checks.append(.accounting([outcome], "next to \(test.name)"))
      var modest = Tally()
      for tally in outcome.tallies.prefix(test.modest) { modest.add(tally) }
      let fraction = 1 - modest.droppedFraction
      let rate = Double(modest.delivered) / Double(test.modest) / (outcome.duration / .seconds(1))
      table.add([
        test.name, "\(test.modest)", rate.text(1),
        fraction.percent, modest.ages.percentile(50).milliseconds,
        modest.ages.percentile(95).milliseconds, modest.ages.percentile(99).milliseconds,
        modest.reasons, "\(outcome.tallies.dropFirst(test.modest).reduce(0) { $0 + $1.delivered })",
        outcome.server.processors.percent(0), outcome.sender.processors.percent(0),
      ])
      checks.append(
        Check(
          "frames of modest sessions next to \(test.name)", measured: fraction.percent,
          limit: ">= 99 %", holds: fraction >= 0.99))
    }
    return Section(title: "Costly neighbours", text: Self.text, table: table, checks: checks)
  }

  private static let cases = [
    Case(count: 0, load: modest), Self.neighbours(4, .newText, .hd720),
    Self.neighbours(16, .newText, .vga), Self.neighbours(16, .faceBlur, .vga),
    Self.neighbours(16, .expensive, .small), Self.neighbours(16, .blur, .hd720),
    Self.neighbours(16, .newKernel, .small), Self.neighbours(16, .sepia, .jpeg720),
    Self.neighbours(1, .costliestKernel, .hd720, modest: 8),
  ]

  private static func neighbours(
    _ count: Int, _ pipeline: Pipeline, _ picture: Picture, modest: Int = 1
  ) -> Case {
    Case(
      modest: modest, count: count,
      load: Load(pipeline: pipeline, picture: picture, pace: .openLoop(framesPerSecond: rate)))
  }

  private static let text = """
    Modest sessions send \(Picture.small) frames through `\(Pipeline.sepia.name)` at \(Int(rate)) \
    frames a second, next to others at the same rate that demand more than the processors have. They honour \
    the window. Drawing a new text, searching for faces, compiling a \
    kernel and decoding a JPEG cannot pause.
    """
}
