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
