import Foundation

extension Duration {
  /// The duration in milliseconds, with one decimal.
  var milliseconds: String { (self / .milliseconds(1)).text(1) }
}

extension Double {
  /// Returns the number with a number of decimals, without zeros at the end.
  func text(_ digits: Int) -> String {
    let text = String(format: "%.\(digits)f", self)
    guard digits > 1, text.contains(".") else { return text }
    return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
  }

  /// The fraction as a percentage.
  func percent(_ digits: Int) -> String { "\((self * 100).text(digits)) %" }
  /// The fraction as a percentage.
  var percent: String { self.percent(1) }
}

extension Tally {
  /// The drops by reason, the most frequent reason first.
  var reasons: String {
    self.dropped.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.key) \((Double($0.value) / Double(self.frames)).percent)" }
      .joined(separator: ", ")
  }
}
