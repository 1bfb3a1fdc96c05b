import Foundation

/// The results of a run, as Markdown with plots.
struct Report: Sendable {
  var settings: Settings
  var loadBefore: String
  var elapsed: Duration
  var sections: [Section]

  var checks: [Check] { self.sections.flatMap(\.checks) }

  /// The name of the page and of its plots.
  private var name: String { self.settings.isPinned ? "realtime-pinned" : "realtime" }

  /// Writes `NAME.md` and `NAME-PLOT.svg`.
  func write(to directory: String) throws {
    let folder = URL(fileURLWithPath: directory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(self.markdown.utf8).write(to: folder.appendingPathComponent("\(self.name).md"))
    for (name, plot) in self.sections.flatMap(\.plots) {
      try Data(plot.svg.utf8).write(to: folder.appendingPathComponent("\(self.name)-\(name).svg"))
    }
  }

  /// The report.
  var markdown: String {
    var verdicts = Table(["", "requirement", "measured", "limit"])
    for check in self.checks {
      verdicts.add([check.holds ? "ok" : "**missed**", check.name, check.measured, check.limit])
    }
    let today = Date().ISO8601Format().prefix(10)
    let title = "Live load: latency, overload, fairness, pings"
    let placement =
      self.settings.isPinned
      ? "the server on processor 0 alone, the sender on processor 1 alone"
      : "which share its processors"
    return """
      # \(title)\(self.settings.isPinned ? ", one processor each" : "")

      Written by `\(self.command)`, \(today), in \((self.elapsed / .seconds(1)).text(0)) s. \
      \(Machine.description); load average before the run: \(self.loadBefore). Server (`sidelight serve \
      --max-load 0`, which refuses no session for load) and sender are separate processes on this \
      machine (\(placement)), TCP on loopback. Each run lasts at least \
      \((self.settings.duration / .seconds(1)).text(2)) s, after a warm-up of \
      \((self.settings.warmUp / .seconds(1)).text(2)) s.

      ## Requirements

      \(verdicts.markdown)

      \(self.sections.map(self.markdown).joined(separator: "\n\n"))

      """
  }

  private var command: String {
    let selection = self.settings.selection.joined(separator: " ")
    return "make bench PART=realtime" + (selection.isEmpty ? "" : " ARGUMENTS=\"\(selection)\"")
  }

  private func markdown(_ section: Section) -> String {
    let plots = section.plots.keys.sorted()
      .map { "\n\n![\(section.title)](\(self.name)-\($0).svg)" }.joined()
    return "## \(section.title)\n\n\(section.text)\(plots)\n\n\(section.table.markdown)"
  }
}
