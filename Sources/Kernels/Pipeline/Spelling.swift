/// Matching of names of filters and parameters: this library's names, Core Image's names, and near
/// misses.
package enum Spelling {
  /// The filters that have another name here than in Core Image, with the same parameters.
  private static let renamedFilters = ["CIMedianFilter": "median"]

  /// `CISepiaTone` becomes `sepiaTone`; other names do not change.
  package static func canonicalFilter(_ name: String) -> String {
    Self.renamedFilters[name] ?? Self.stripping("CI", from: name)
  }

  /// `inputIntensity` becomes `intensity`; other names do not change.
  package static func canonicalParameter(_ name: String) -> String {
    Self.stripping("input", from: name)
  }

  /// Returns the candidate with the fewest edits to the given name, if they are at most a third of
  /// the name's length (but two are always allowed); otherwise the shortest candidate that begins
  /// with the name, such as `sepiaTone` for `sepia`. Of several it returns the first in
  /// alphabetical order.
  package static func nearest(to name: String, among candidates: [String]) -> String? {
    // The time is quadratic in the name's length.
    guard name.utf8.count <= 64 else { return nil }
    let folded = Array(name.lowercased().utf8)
    let candidates = candidates.sorted()
    let misspelt =
      candidates
      .map { (name: $0, distance: Self.distance(folded, Array($0.lowercased().utf8))) }
      .filter { $0.distance <= max(2, folded.count / 3) }
      .min { $0.distance < $1.distance }?
      .name
    if let misspelt { return misspelt }
    guard folded.count >= 3 else { return nil }
    return
      candidates
      .filter { $0.lowercased().hasPrefix(name.lowercased()) }
      .min { $0.count < $1.count }
  }

  private static func stripping(_ prefix: String, from name: String) -> String {
    guard name.hasPrefix(prefix) else { return name }
    let rest = name.dropFirst(prefix.count)
    guard let first = rest.first, first.isUppercase else { return name }
    return first.lowercased() + rest.dropFirst()
  }

  /// The Levenshtein distance: insertions, deletions and replacements.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var previous = Array(0 ... right.count)
    for (row, byte) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        current.append(
          min(
            previous[column] + (byte == other ? 0 : 1), previous[column + 1] + 1,
            current[column] + 1))
      }
      previous = current
    }
    return previous[right.count]
  }
}

extension UInt8 {
  /// Whether the byte is an ASCII letter.
  package var isLetter: Bool {
    (UInt8(ascii: "a") ... UInt8(ascii: "z")).contains(self | 0x20)
  }

  /// Whether the byte is an ASCII digit.
  package var isDigit: Bool { (UInt8(ascii: "0") ... UInt8(ascii: "9")).contains(self) }
}
