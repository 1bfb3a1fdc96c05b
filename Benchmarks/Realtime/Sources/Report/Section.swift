/// A part of the report.
struct Section: Sendable {
  var title: String
  var text: String
  var table: Table
  /// The plots, by file name without extension.
  var plots: [String: Plot] = [:]
  var checks: [Check]
}
