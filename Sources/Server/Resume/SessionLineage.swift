package import Foundation

/// Names a session together with those that it resumes and those that resume it: 16 random bytes, which
/// travel in resume tokens.
package struct SessionLineage: Sendable, Hashable {
  /// The bytes, as a token holds them.
  package let bytes: Data

  /// A lineage that begins.
  package init() {
    var generator = SystemRandomNumberGenerator()
    self.bytes = Data((0 ..< 16).map { _ in .random(in: .min ... .max, using: &generator) })
  }

  /// The lineage that a token names.
  ///
  /// - Parameter bytes: From a verified token. A new lineage begins where there are none: tokens of
  ///   older servers name none.
  package init(token bytes: Data) {
    self.bytes = bytes.count == 16 ? bytes : Self().bytes
  }
}
