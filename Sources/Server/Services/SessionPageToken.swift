package import SidelightWire

/// The `page_token` of `ListSessions`: the last session of a page, and the label that was asked
/// for.
///
/// The text is 32 hexadecimal digits: the session's number, and a check value of number and label.
/// It is no secret; the check value finds texts that are no tokens, and tokens of other requests.
package struct SessionPageToken: Sendable, Hashable {
  /// The number of the page's last session.
  package let number: UInt64
  /// The label that was asked for; empty for all sessions.
  package let label: String

  package init(after number: UInt64, label: String) {
    self.number = number
    self.label = label
  }

  /// Reads a token.
  ///
  /// - Throws: ``FieldFault`` that names `page_token`, for a text that is not a token for this
  ///   label.
  package init(_ text: String, label: String) throws(FieldFault) {
    if text.utf8.count == 32, let number = UInt64(text.prefix(16), radix: 16) {
      self.init(after: number, label: label)
      if self.text == text { return }
    }
    throw FieldFault(
      field: "page_token",
      reason:
        "is not the next_page_token of an earlier response with the same label; send none for "
        + "the first page")
  }

  /// The token as a client gets it.
  package var text: String { Self.digits(self.number) + Self.digits(self.checkValue) }

  /// FNV-1a, 64 bits.
  private var checkValue: UInt64 {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in Self.digits(self.number).utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    for byte in self.label.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return value
  }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
