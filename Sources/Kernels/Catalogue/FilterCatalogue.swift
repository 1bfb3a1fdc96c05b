/// The filters that pipelines may name.
///
/// A catalogue is a value: a server copies it at start, adds its own filters, and shares it.
public struct FilterCatalogue: Sendable {
  /// A description and the function that creates the filter from a call.
  package struct Entry: Sendable {
    /// Returns the parameters that a call has in addition to the description's parameters.
    package typealias Parameters =
      @Sendable (_ call: FilterCall, _ assets: any AssetProvider, _ path: String)
      throws(PipelineError) -> [ParameterDescription]

    package let description: FilterDescription
    package let make: @Sendable (Arguments) -> any Filter
    /// `nil` if all calls have the parameters of the description.
    package let parameters: Parameters?
  }

  /// A filter that the catalogue describes but cannot create.
  private struct UnavailableEntry: Sendable {
    let description: FilterDescription
    let reason: String
  }

  private var entries: [String: Entry] = [:]
  private var unavailableEntries: [String: UnavailableEntry] = [:]

  /// The source of the assets that pipelines name; empty by default.
  public var assets: any AssetProvider = AssetStore()

  /// The parser of fonts; `nil` without a registered renderer of texts.
  package var fonts: (any FontReader)?

  /// The source of the permissions that ``resolve(_:)`` enforces; `nil` permits all filters.
  package var permissions: (any FilterPermissionProvider)?

  /// Creates a catalogue without filters.
  public init() {}

  /// Adds a type of filter. It replaces a filter of the same name.
  public mutating func register<F: CatalogueFilter>(_ type: F.Type) {
    self.register(F.description) { F($0) }
  }

  /// Adds a filter without parameters. It replaces a filter of the same name.
  public mutating func register(_ filter: some Filter) {
    self.register(filter.description) { _ in filter }
  }

  /// Adds a filter by its description and a function that creates it. It replaces a filter of the
  /// same name.
  ///
  /// - Parameters:
  ///   - description: The filter's name, parameters and properties.
  ///   - make: Creates a filter; called with a validated value for every parameter of the
  ///     description.
  public mutating func register(
    _ description: FilterDescription, make: @escaping @Sendable (Arguments) -> any Filter
  ) {
    let name = Spelling.canonicalFilter(description.name)
    self.entries[name] = Entry(description: description, make: make, parameters: nil)
    self.unavailableEntries[name] = nil
  }

  /// Adds a filter that accepts further parameters per call. It replaces a filter of the same name.
  ///
  /// - Parameters:
  ///   - description: The filter's name, parameters and properties.
  ///   - parameters: Returns a call's parameters in addition to the description's parameters.
  ///   - make: Creates a filter; called with a validated value for every parameter.
  package mutating func register(
    _ description: FilterDescription, parameters: @escaping Entry.Parameters,
    make: @escaping @Sendable (Arguments) -> any Filter
  ) {
    let name = Spelling.canonicalFilter(description.name)
    self.entries[name] = Entry(description: description, make: make, parameters: parameters)
    self.unavailableEntries[name] = nil
  }

  /// Describes a filter that this program cannot create. Resolving a pipeline that names it throws
  /// an error with the reason. It replaces a filter of the same name.
  ///
  /// - Parameters:
  ///   - description: The filter's name, parameters and properties.
  ///   - reason: The missing part, as a clause: "this server is built without Vision".
  public mutating func register(unavailable description: FilterDescription, reason: String) {
    let name = Spelling.canonicalFilter(description.name)
    self.entries[name] = nil
    self.unavailableEntries[name] = UnavailableEntry(description: description, reason: reason)
  }

  /// The descriptions of all available filters, sorted by name.
  public var descriptions: [FilterDescription] {
    self.entries.values.map(\.description).sorted { $0.name < $1.name }
  }

  /// The descriptions of all filters, including unavailable ones, sorted by name.
  public var allDescriptions: [FilterDescription] {
    (self.descriptions + self.unavailableEntries.values.map(\.description))
      .sorted { $0.name < $1.name }
  }

  /// The description of an available filter by its name or its name in Core Image (`CISepiaTone`);
  /// `nil` if the name is unknown.
  public func description(named name: String) -> FilterDescription? {
    self.entry(named: name)?.description
  }

  /// The description of a filter that is unavailable, and the reason; `nil` if the name is unknown.
  public func unavailableFilter(
    named name: String
  ) -> (description: FilterDescription, reason: String)? {
    self.unavailableEntries[Spelling.canonicalFilter(name)].map { ($0.description, $0.reason) }
  }

  /// The name of the available filter with the nearest spelling to the given one; `nil` if every
  /// name differs too much. Filters that are not permitted are not suggested.
  public func nearestName(to name: String) -> String? {
    let permissions = self.permissions?.permissions
    let names = self.entries.values.map(\.description.name)
    return Spelling.nearest(
      to: Spelling.canonicalFilter(name),
      among: names.filter { permissions?.permits($0) ?? true })
  }

  package func entry(named name: String) -> Entry? {
    self.entries[Spelling.canonicalFilter(name)]
  }
}
