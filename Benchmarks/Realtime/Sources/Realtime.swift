import Foundation

/// Measures a Sidelight server under live load: latency, overload, fairness between
/// sessions, pings. Writes a report with plots, and fails if a requirement is missed.
///
///     realtime --server PATH [--output DIRECTORY] [--quick] [--seconds N] [--only PART]...
@main
struct Realtime {
  static func main() async throws {
    do {
      if CommandLine.arguments.dropFirst().first == PingProcess.option {
        return try await PingProcess.main(CommandLine.arguments.dropFirst(2))
      }
      let settings = try Settings(CommandLine.arguments.dropFirst())
      let report = try await Interruption.handled { try await Self.measure(settings) }
      print(report.markdown)
      try report.write(to: settings.output)
      exit(report.checks.allSatisfy(\.holds) ? 0 : 1)
    } catch is Interruption {
      exit(130)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(2)
    }
  }

  private static func measure(_ settings: Settings) async throws -> Report {
    let loadBefore = Machine.load
    let clock = ContinuousClock()
    let begin = clock.now
    var sections: [Section] = []
    for part in Settings.Part.allCases where settings.parts.contains(part) {
      let measurement: any Measurement =
        switch part {
        case .sessions: SessionsTable()
        case .overload: OverloadCurve()
        case .large: LargeFrames()
        case .noisyNeighbour: NoisyNeighbour()
        case .neighbours: CostlyNeighbours()
        case .ping: PingLatency()
        }
      sections.append(try await measurement.run(settings))
    }
    return Report(
      settings: settings, loadBefore: loadBefore, elapsed: clock.now - begin, sections: sections)
  }
}
