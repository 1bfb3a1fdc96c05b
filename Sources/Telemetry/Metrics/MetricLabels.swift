/// The labels of a series, as they are written between braces.
struct MetricLabels: Sendable, Hashable {
  /// `name="value",name="value"`; empty if there are none.
  let text: String

  /// - Parameter dimensions: Names and values. What may not stand in a name becomes `_`.
  init(_ dimensions: [(String, String)]) {
    self.text = dimensions.map { name, value in
      "\(name.metricName(allowsColon: false))=\"\(value.escaped(quotes: true))\""
    }.joined(separator: ",")
  }

  /// Between braces, or nothing.
  var braced: String { self.text.isEmpty ? "" : "{\(self.text)}" }

  /// Between braces, with one more.
  func braced(with name: String, _ value: String) -> String {
    self.text.isEmpty ? "{\(name)=\"\(value)\"}" : "{\(self.text),\(name)=\"\(value)\"}"
  }
}

extension String {
  /// As Prometheus allows names: letters, digits and `_`, not a digit first.
  func metricName(allowsColon: Bool) -> String {
    var name = String(
      self.unicodeScalars.map { scalar in
        switch scalar {
        case "a" ... "z", "A" ... "Z", "0" ... "9", "_": Character(scalar)
        case ":" where allowsColon: ":"
        default: "_"
        }
      })
    if name.first.map({ ("0" ... "9").contains($0) }) ?? true { name = "_" + name }
    return name
  }

  /// With what would end the line, or the value, written as escapes.
  func escaped(quotes: Bool) -> String {
    var text = ""
    for character in self.unicodeScalars {
      switch character {
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\"" where quotes: text += "\\\""
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}
