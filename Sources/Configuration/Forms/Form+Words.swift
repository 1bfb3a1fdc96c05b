import SidelightServer

extension Form {
  /// A path.
  ///
  /// - Parameter maxBytes: The most bytes that it may have.
  static func path(maxBytes: Int = 4096) -> SettingForm<String> {
    let kind = SettingKind(type: "path", range: "1 to \(maxBytes) bytes")
    return SettingForm(
      kind,
      parse: { text throws(SettingRefusal) in
        guard (1 ... maxBytes).contains(text.utf8.count) else {
          throw SettingRefusal("which has \(text.utf8.count) bytes, the range is 1 to \(maxBytes)")
        }
        return text
      },
      text: { $0 })
  }
}

extension Form {
  /// Yes or no.
  static var toggle: SettingForm<Bool> {
    SettingForm(
      SettingKind(type: "yes or no", range: "true or false", isSwitch: true),
      parse: { text throws(SettingRefusal) in
        switch text.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw SettingRefusal("true or false is expected")
        }
      },
      text: { $0 ? "true" : "false" })
  }
}

extension Form {
  /// Where to listen.
  static var address: SettingForm<Address> {
    SettingForm(
      SettingKind(type: "address", range: "IP:PORT or unix:PATH"),
      parse: { text throws(SettingRefusal) in
        do throws(AddressError) {
          return try Address(text)
        } catch {
          throw SettingRefusal("which is no address: \(error.reason)")
        }
      },
      text: \.description)
  }
}

extension Form {
  /// Permissions of a file, in octal: `660`, `0660`.
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
  /// A user by number.
  static var userID: SettingForm<UInt32> {
    SettingForm(
      SettingKind(type: "user", unit: "uid", range: "0 to \(UInt32.max - 1)"),
      parse: { text throws(SettingRefusal) in
        guard let number = UInt32(text), number < UInt32.max else {
          throw SettingRefusal("a user's number is expected, 0 to \(UInt32.max - 1)")
        }
        return number
      },
      text: { "\($0)" })
  }
}

extension Form {
  /// One of the names that the type has.
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
            "the choice is \(words)" + (nearest.map { "; did you mean \($0)?" } ?? ""))
        }
        return value
      },
      text: \.rawValue)
  }
}
