import Foundation

/// The results of a run, as Markdown with plots.
struct Report: Sendable {
  var settings: Settings
  var loadBefore: String
  var elapsed: Duration
  var sections: [Section]

  var checks: [Check] { self.sections.flatMap(\.checks) }

  /// Writes `realtime.md` and `realtime-PLOT.svg`.
  func write(to directory: String) throws {
    let folder = URL(fileURLWithPath: directory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(self.markdown.utf8).write(to: folder.appendingPathComponent("realtime.md"))
    for (name, plot) in self.sections.flatMap(\.plots) {
      try Data(plot.svg.utf8).write(to: folder.appendingPathComponent("realtime-\(name).svg"))
    }
  }

  /// The report.
  var markdown: String {
    var verdicts = Table(["", "requirement", "measured", "limit"])
    for check in self.checks {
      verdicts.add([check.holds ? "ok" : "**missed**", check.name, check.measured, check.limit])
    }
    let today = Date().ISO8601Format().prefix(10)
    return """
      # Live load: latency, overload, fairness, pings

      Written by `\(self.command)`, \(today), in \((self.elapsed / .seconds(1)).text(0)) s. \
      \(Machine.description); load average before the run: \(self.loadBefore). Server (`sidelight serve \
      --max-load 0`, which refuses no session for load) and sender are separate processes on this \
      machine, TCP on loopback. Each run lasts \((self.settings.duration / .seconds(1)).text(2)) s, \
      after a warm-up of \((self.settings.warmUp / .seconds(1)).text(2)) s.

      ## Requirements

      \(verdicts.markdown)

      \(self.sections.map(Self.markdown).joined(separator: "\n\n"))

      """
  }

  private var command: String {
    let selection = self.settings.selection.joined(separator: " ")
    return "make bench-realtime" + (selection.isEmpty ? "" : " ARGUMENTS=\"\(selection)\"")
  }

  private static func markdown(_ section: Section) -> String {
    let plots = section.plots.keys.sorted()
      .map { "\n\n![\(section.title)](realtime-\($0).svg)" }.joined()
    return "## \(section.title)\n\n\(section.text)\(plots)\n\n\(section.table.markdown)"
  }
}
