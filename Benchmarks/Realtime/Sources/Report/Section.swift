/// A part of the report.
struct Section: Sendable {
  var title: String
  var text: String
  var table: Table
  /// By the name of their file, without its extension.
  var plots: [String: Plot] = [:]
  var checks: [Check]
}
