/// A parser of the fonts that callers upload. SidelightText has one.
package protocol FontReader: Sendable {
  /// Parses a TrueType or OpenType font.
  ///
  /// - Parameter lease: An object that the font retains.
  /// - Throws: ``TextError`` with the reason why the font cannot be used.
  func readFont(_ bytes: [UInt8], lease: (any AssetLease)?) throws(TextError) -> FontAsset
}

/// The reason why a text cannot be drawn, or a font cannot be used.
public struct TextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason, with the limit and the remedy.
  public let message: String
  /// The limit that the text exceeds; `nil` if a font cannot be used.
  package let limit: Int?

  /// Creates an error.
  public init(_ message: String) {
    self.message = message
    self.limit = nil
  }

  /// Creates the error of a text that exceeds a limit.
  package init(_ message: String, limit: Int) {
    self.message = message
    self.limit = limit
  }

  /// The reason.
  public var description: String { self.message }
}
