import Foundation

extension Duration {
  /// In milliseconds, with one digit after the point.
  var milliseconds: String { (self / .milliseconds(1)).text(1) }
}

extension Double {
  /// With so many digits after the point; those that are zero at the end are left out.
  func text(_ digits: Int) -> String {
    let text = String(format: "%.\(digits)f", self)
    guard digits > 1, text.contains(".") else { return text }
    return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
  }

  /// As a part of 1.
  func percent(_ digits: Int) -> String { "\((self * 100).text(digits)) %" }
  /// As a part of 1.
  var percent: String { self.percent(1) }
}

extension Tally {
  /// What was dropped, the most frequent reason first.
  var reasons: String {
    self.dropped.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.key) \((Double($0.value) / Double(self.frames)).percent)" }
      .joined(separator: ", ")
  }
}
