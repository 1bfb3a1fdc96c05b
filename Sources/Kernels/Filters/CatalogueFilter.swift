/// A filter that a catalogue makes from a call's parameters.
///
/// Conform a struct, declare its description once, read the parameters in the initialiser, and
/// register the type: `catalogue.register(SepiaTone.self)`.
public protocol CatalogueFilter: Filter {
  /// What the filter is called, takes, computes and promises, whatever its settings.
  static var description: FilterDescription { get }

  /// Reads the settings.
  ///
  /// - Parameter arguments: One value a parameter of the description: given or default, of the right
  ///   kind, finite and within the hard limits.
  init(_ arguments: Arguments)
}

extension CatalogueFilter {
  /// That of the type.
  public var description: FilterDescription { Self.description }
}
