/// The labels of a series in Prometheus' text format.
struct MetricLabels: Sendable, Hashable {
  /// `name="value",name="value"`; empty if there are none.
  let text: String

  /// - Parameter dimensions: The names and values. Invalid characters of names become `_`.
  init(_ dimensions: [(String, String)]) {
    self.text = dimensions.map { name, value in
      "\(name.metricName(allowsColon: false))=\"\(value.escaped(quotes: true))\""
    }.joined(separator: ",")
  }

  /// The labels in braces; empty if there are none.
  var braced: String { self.text.isEmpty ? "" : "{\(self.text)}" }

  /// Returns the labels in braces, with an additional one.
  func braced(with name: String, _ value: String) -> String {
    self.text.isEmpty ? "{\(name)=\"\(value)\"}" : "{\(self.text),\(name)=\"\(value)\"}"
  }
}

extension String {
  /// Returns a valid name for Prometheus: letters, digits and `_`, not beginning with a digit.
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

  /// Returns the text with backslashes, line breaks and, if requested, quotation marks escaped.
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
