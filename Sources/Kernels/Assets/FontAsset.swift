/// A font that a renderer has parsed.
///
/// Two fonts are equal if they are the same object.
public final class FontAsset: Sendable {
  /// The family, such as `Inter`.
  public let family: String
  /// The style, such as `Bold`.
  public let style: String
  /// The number of glyphs.
  public let glyphCount: Int
  /// The renderer's form of the font.
  package let handle: any FontHandle
  /// Retained for the font's lifetime.
  private let lease: (any AssetLease)?

  /// Creates a font.
  ///
  /// - Parameters:
  ///   - handle: The form of the font that its renderer reads.
  ///   - lease: An object that the font retains.
  package init(
    family: String, style: String, glyphCount: Int, handle: any FontHandle,
    lease: (any AssetLease)? = nil
  ) {
    self.family = family
    self.style = style
    self.glyphCount = glyphCount
    self.handle = handle
    self.lease = lease
  }

  /// Whether the font's memory is counted by a lease.
  var isLeased: Bool { self.lease != nil }

  /// Whether bytes begin like a TrueType or OpenType font, or a collection of them.
  public static func isFont(_ bytes: [UInt8]) -> Bool {
    Self.signatures.contains { bytes.starts(with: $0) }
  }

  private static let signatures: [[UInt8]] = [
    [0, 1, 0, 0], Array("OTTO".utf8), Array("true".utf8), Array("ttcf".utf8),
  ]

  /// The maximum memory of a font, in bytes: its file, and the glyphs and tables that a renderer
  /// keeps.
  package static func maxByteCount(ofFile byteCount: Int) -> Int { byteCount + (2 << 20) }
}

/// A renderer's form of a font, which ends with the font's last reference.
package protocol FontHandle: AnyObject, Sendable {}

extension FontAsset: Hashable {
  /// Whether both are the same object.
  public static func == (left: FontAsset, right: FontAsset) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

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
