import SidelightServer

extension Format {
  /// A path.
  ///
  /// - Parameter maxBytes: The maximum length in bytes.
  static func path(maxBytes: Int = 4096) -> SettingFormat<String> {
    Self.text(type: "path", maxBytes: maxBytes)
  }

  /// A free text.
  ///
  /// - Parameters:
  ///   - type: The type to show.
  ///   - maxBytes: The maximum length in bytes.
  static func text(type: String = "text", maxBytes: Int) -> SettingFormat<String> {
    let kind = SettingKind(type: type, range: "1 to \(maxBytes) bytes")
    return SettingFormat(
      kind,
      parse: { text throws(InvalidSettingValue) in
        guard (1 ... maxBytes).contains(text.utf8.count) else {
          throw InvalidSettingValue("it has \(text.utf8.count) bytes; the limit is \(maxBytes)")
        }
        return text
      },
      text: { $0 })
  }

  /// A Boolean.
  static var toggle: SettingFormat<Bool> {
    SettingFormat(
      SettingKind(type: "boolean", range: "true or false", isSwitch: true),
      parse: { text throws(InvalidSettingValue) in
        switch text.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw InvalidSettingValue("expected true or false")
        }
      },
      text: { $0 ? "true" : "false" })
  }

  /// An address to listen on.
  static var address: SettingFormat<Address> {
    SettingFormat(
      SettingKind(type: "address", range: "IP:PORT or unix:PATH"),
      parse: { text throws(InvalidSettingValue) in
        do throws(AddressError) {
          return try Address(text)
        } catch {
          throw InvalidSettingValue(error.reason)
        }
      },
      text: \.description)
  }

  /// A TCP address to listen on.
  static var tcpAddress: SettingFormat<Address> {
    let address = Self.address
    return SettingFormat(
      SettingKind(type: "address", range: "IP:PORT"),
      parse: { text throws(InvalidSettingValue) in
        let value = try address.parse([text])
        guard case .tcp = value else { throw InvalidSettingValue("expected IP:PORT") }
        return value
      },
      text: \.description)
  }

  /// File permissions, in octal: `660`, `0660`.
  static var mode: SettingFormat<UInt16> {
    SettingFormat(
      SettingKind(type: "permissions", unit: "octal", range: "0 to 777"),
      parse: { text throws(InvalidSettingValue) in
        guard let mode = UInt16(text.hasPrefix("0o") ? text.dropFirst(2) : text[...], radix: 8),
          mode <= 0o777
        else { throw InvalidSettingValue("the range is 0 to 777, in octal") }
        return mode
      },
      text: { String($0, radix: 8) })
  }

  /// A user ID.
  static var userID: SettingFormat<UInt32> {
    SettingFormat(
      SettingKind(type: "user ID", range: "0 to \(UInt32.max - 1)"),
      parse: { text throws(InvalidSettingValue) in
        guard let number = UInt32(text), number < UInt32.max else {
          throw InvalidSettingValue("expected a user ID from 0 to \(UInt32.max - 1)")
        }
        return number
      },
      text: { "\($0)" })
  }

  /// One of the raw values of a type.
  static func choice<Value>(_ type: Value.Type = Value.self) -> SettingFormat<Value>
  where
    Value: RawRepresentable & CaseIterable & Sendable & Equatable, Value.RawValue == String
  {
    let names = Value.allCases.map(\.rawValue)
    let list =
      names.count < 2
      ? names.joined() : names.dropLast().joined(separator: ", ") + " or \(names.last ?? "")"
    return SettingFormat(
      SettingKind(type: "choice", range: list),
      parse: { text throws(InvalidSettingValue) in
        guard let value = Value(rawValue: text) else {
          let nearest = Spelling.nearest(to: text, among: names)
          throw InvalidSettingValue(
            "expected \(list)" + (nearest.map { "; did you mean \($0)?" } ?? ""))
        }
        return value
      },
      text: \.rawValue)
  }
}
