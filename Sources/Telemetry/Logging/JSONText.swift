import Logging

/// Writes a JSON object, member by member.
struct JSONText {
  private(set) var text = ""
  private var isFirst = true

  mutating func open() { self.text += "{" }

  mutating func close() { self.text += "}" }

  mutating func add(_ key: String, _ value: String) {
    self.begin(key)
    self.text += Self.quoted(value)
  }

  mutating func add(_ key: String, _ value: Logger.MetadataValue) {
    self.begin(key)
    self.text += Self.encoded(value)
  }

  private mutating func begin(_ key: String) {
    if !self.isFirst { self.text += "," }
    self.isFirst = false
    self.text += Self.quoted(key) + ":"
  }

  private static func encoded(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string(let value): return self.quoted(value)
    case .stringConvertible(let value): return self.quoted("\(value)")
    case .array(let values): return "[\(values.map(self.encoded).joined(separator: ","))]"
    case .dictionary(let members):
      var json = Self()
      json.open()
      for (key, value) in members.sorted(by: { $0.key < $1.key }) { json.add(key, value) }
      json.close()
      return json.text
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
