/// A name, or a prefix of names that ends in `*`.
public struct NamePattern: Sendable, Hashable, CustomStringConvertible {
  /// The text: `guest-7`, `guest*`, `*`.
  public let text: String

  /// Creates a pattern. A `*` at its end matches any rest; elsewhere it is an ordinary character.
  public init(_ text: String) { self.text = text }

  /// Returns whether the pattern matches a name.
  public func matches(_ name: String) -> Bool {
    self.text.hasSuffix("*") ? name.hasPrefix(self.text.dropLast()) : name == self.text
  }

  /// The text.
  public var description: String { self.text }
}

/// A list of names of filters, and of prefixes of names that end in `*`.
///
/// Core Image's names are accepted: `CISepiaTone` is `sepiaTone`.
public struct FilterNameList: Sendable, Hashable {
  /// The entries, as they were given.
  public let entries: [String]
  private let names: Set<String>
  private let prefixes: [String]

  /// The list of all filters.
  public static let all = FilterNameList(unchecked: ["*"])
  /// The empty list.
  public static let none = FilterNameList(unchecked: [])

  /// Creates a list.
  ///
  /// - Throws: ``FilterNameError`` for an entry that is not a name or a prefix.
  public init(_ entries: [String]) throws(FilterNameError) {
    for (index, entry) in entries.enumerated() {
      let count = entry.utf8.count
      guard (1 ... Pipeline.maxNameBytes).contains(count) else {
        throw FilterNameError(
          index: index, reason: "has \(count) bytes; the range is 1 to \(Pipeline.maxNameBytes)")
      }
      guard !entry.dropLast().contains("*") else {
        throw FilterNameError(
          index: index,
          reason: "is \(entry.debugDescription); a * is valid only at the end of a name")
      }
    }
    self.init(unchecked: entries)
  }

  private init(unchecked entries: [String]) {
    self.entries = entries
    self.names = Set(
      entries.filter { !$0.hasSuffix("*") }.map(Spelling.canonicalFilter))
    self.prefixes =
      Set(
        entries.filter { $0.hasSuffix("*") }.map { Spelling.canonicalFilter(String($0.dropLast())) }
      )
      .sorted()
  }

  /// Returns whether the list has a filter, by its name in a catalogue.
  public func contains(_ filter: String) -> Bool {
    let name = Spelling.canonicalFilter(filter)
    return self.names.contains(name) || self.prefixes.contains(where: name.hasPrefix)
  }
}

/// An invalid entry of a list of filters.
public struct FilterNameError: Error, Sendable, Hashable {
  /// The index of the entry.
  public let index: Int
  /// A clause with the entry as its subject: `has 0 bytes; the range is 1 to 64`.
  public let reason: String
}
