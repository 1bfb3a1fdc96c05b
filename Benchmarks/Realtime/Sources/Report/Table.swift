/// A table in Markdown.
struct Table: Sendable {
  private var rows: [[String]]

  /// - Parameter head: The names of the columns.
  init(_ head: [String]) {
    self.rows = [head, head.map { _ in "---" }]
  }

  mutating func add(_ row: [String]) {
    self.rows.append(row)
  }

  /// The text.
  var markdown: String {
    self.rows.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
  }
}
