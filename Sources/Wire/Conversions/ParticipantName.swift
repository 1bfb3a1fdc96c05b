/// The rules for names of participants, for whom a caller vouches.
package enum ParticipantName {
  /// Checks a name. The empty name is the caller itself.
  ///
  /// Names are shown to operators and logged. Characters that a terminal or a page does not show
  /// are refused.
  ///
  /// - Parameter field: The field of the request that has the name.
  /// - Throws: ``FieldViolation`` with the length and the limit, or with the character.
  package static func check(_ name: String, field: String) throws(FieldViolation) {
    try ContractLimits.check(name, atMost: ContractLimits.maxParticipantBytes, field: field)
    guard let scalar = name.unicodeScalars.first(where: { !Self.isPrintable($0) }) else { return }
    let digits = String(scalar.value, radix: 16, uppercase: true)
    let code = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    throw FieldViolation(
      field: field,
      reason: "contains the character U+\(code), which is not printable; leave it out",
      info: .init(value: "U+\(code)"))
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
