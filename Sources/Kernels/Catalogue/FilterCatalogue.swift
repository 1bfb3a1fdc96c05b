/// The filters that pipelines may name.
///
/// A value: a server copies it at start, adds filters of its own, and shares it freely.
public struct FilterCatalogue: Sendable {
  /// How a filter is made from a call.
  package struct Entry: Sendable {
    package let description: FilterDescription
    package let make: @Sendable (Arguments) -> any Filter
  }

  private var entries: [String: Entry] = [:]

  /// Where the assets are found that pipelines name; at first there are none.
  public var assets: any AssetProvider = AssetStore()

  /// A catalogue without filters.
  public init() {}

  /// Adds a type of filter, or replaces the one of that name.
  public mutating func register<F: CatalogueFilter>(_ type: F.Type) {
    self.register(F.description) { F($0) }
  }

  /// Adds a filter that is one value, without parameters, or replaces the one of that name.
  public mutating func register(_ filter: some Filter) {
    self.register(filter.description) { _ in filter }
  }

  /// Adds a filter by its description and a function that makes it, or replaces the one of that
  /// name.
  ///
  /// - Parameters:
  ///   - description: What the filter is called and takes.
  ///   - make: Called with one validated value a parameter of the description.
  public mutating func register(
    _ description: FilterDescription, make: @escaping @Sendable (Arguments) -> any Filter
  ) {
    self.entries[Spelling.canonicalFilter(description.name)] = Entry(
      description: description, make: make)
  }

  /// What every filter is called, takes and promises, sorted by name.
  public var descriptions: [FilterDescription] {
    self.entries.values.map(\.description).sorted { $0.name < $1.name }
  }

  /// The description of a filter, named as it is or as in Core Image (`CISepiaTone`); `nil` if there
  /// is none.
  public func description(named name: String) -> FilterDescription? {
    self.entry(named: name)?.description
  }

  /// The name of the filter that is spelled most like the given one; `nil` if none is near.
  public func nearestName(to name: String) -> String? {
    Spelling.nearest(
      to: Spelling.canonicalFilter(name), among: self.entries.values.map(\.description.name))
  }

  /// How the filter of that name is made.
  package func entry(named name: String) -> Entry? {
    self.entries[Spelling.canonicalFilter(name)]
  }
}

/// How names of filters and parameters are matched: ours, Core Image's, and near misses.
package enum Spelling {
  /// `CISepiaTone` becomes `sepiaTone`; every other name stays.
  static func canonicalFilter(_ name: String) -> String {
    Self.stripping("CI", from: name)
  }

  /// `inputIntensity` becomes `intensity`; every other name stays.
  static func canonicalParameter(_ name: String) -> String {
    Self.stripping("input", from: name)
  }

  /// The candidate with the fewest edits to the given name, if it takes no more than a third of the
  /// name's length (but at least two are allowed); or else the shortest that begins with the name, as
  /// `sepiaTone` with `sepia`. The first in alphabetical order of several.
  package static func nearest(to name: String, among candidates: [String]) -> String? {
    // A name of hostile length must not cost its square.
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

  /// Levenshtein's distance: insertions, deletions and replacements.
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
