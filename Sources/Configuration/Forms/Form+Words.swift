import SidelightServer

extension Form {
  /// A path.
  ///
  /// - Parameter maxBytes: The maximum length in bytes.
  static func path(maxBytes: Int = 4096) -> SettingForm<String> {
    let kind = SettingKind(type: "path", range: "1 to \(maxBytes) bytes")
    return SettingForm(
      kind,
      parse: { text throws(SettingRefusal) in
        guard (1 ... maxBytes).contains(text.utf8.count) else {
          throw SettingRefusal("it has \(text.utf8.count) bytes; the limit is \(maxBytes)")
        }
        return text
      },
      text: { $0 })
  }
}

extension Form {
  /// A Boolean.
  static var toggle: SettingForm<Bool> {
    SettingForm(
      SettingKind(type: "boolean", range: "true or false", isSwitch: true),
      parse: { text throws(SettingRefusal) in
        switch text.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw SettingRefusal("expected true or false")
        }
      },
      text: { $0 ? "true" : "false" })
  }
}

extension Form {
  /// An address to listen on.
  static var address: SettingForm<Address> {
    SettingForm(
      SettingKind(type: "address", range: "IP:PORT or unix:PATH"),
      parse: { text throws(SettingRefusal) in
        do throws(AddressError) {
          return try Address(text)
        } catch {
          throw SettingRefusal(error.reason)
        }
      },
      text: \.description)
  }
}

extension Form {
  /// File permissions, in octal: `660`, `0660`.
  static var mode: SettingForm<UInt16> {
    SettingForm(
      SettingKind(type: "permissions", unit: "octal", range: "0 to 777"),
      parse: { text throws(SettingRefusal) in
        guard let mode = UInt16(text.hasPrefix("0o") ? text.dropFirst(2) : text[...], radix: 8),
          mode <= 0o777
        else { throw SettingRefusal("the range is 0 to 777, in octal") }
        return mode
      },
      text: { String($0, radix: 8) })
  }
}

extension Form {
  /// A user ID.
  static var userID: SettingForm<UInt32> {
    SettingForm(
      SettingKind(type: "user ID", range: "0 to \(UInt32.max - 1)"),
      parse: { text throws(SettingRefusal) in
        guard let number = UInt32(text), number < UInt32.max else {
          throw SettingRefusal("expected a user ID from 0 to \(UInt32.max - 1)")
        }
        return number
      },
      text: { "\($0)" })
  }
}

extension Form {
  /// One of the raw values of a type.
  static func choice<Value>(_ type: Value.Type = Value.self) -> SettingForm<Value>
  where
    Value: RawRepresentable & CaseIterable & Sendable & Equatable, Value.RawValue == String
  {
    let names = Value.allCases.map(\.rawValue)
    let words =
      names.count < 2
      ? names.joined() : names.dropLast().joined(separator: ", ") + " or \(names.last ?? "")"
    return SettingForm(
      SettingKind(type: "choice", range: words),
      parse: { text throws(SettingRefusal) in
        guard let value = Value(rawValue: text) else {
          let nearest = Spelling.nearest(to: text, among: names)
          throw SettingRefusal(
            "expected \(words)" + (nearest.map { "; did you mean \($0)?" } ?? ""))
        }
        return value
      },
      text: \.rawValue)
  }
}
