/// Something done to a frame, as a value.
///
/// A filter holds its settings and no pixels and no state; it says what it does as ``Node``s, and
/// the planner decides how that is computed. Built-in filters and a user's own are the same kind of
/// thing.
public protocol Filter: Sendable {
  /// What the filter is called, takes, computes and promises.
  var description: FilterDescription { get }

  /// What the filter does to frames of the given geometry, first to last.
  ///
  /// Called when a plan is made, not for each frame. No node means that these settings change
  /// nothing.
  func nodes(for geometry: FrameGeometry) -> [Node]

  /// What the filter does where colour is computed in a space. There is no need to write this one
  /// unless the filter brings in pictures of its own, which are to be converted: the default takes
  /// colour as it is.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [Node]
}

extension Filter {
  /// What the filter does, whatever the space.
  public func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [Node] {
    self.nodes(for: geometry)
  }
}

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

/// A filter's parameters after validation: each one of the description's, given or default, of the
/// right kind, finite and within its hard limits.
///
/// To ask for a parameter that the description does not have, or as another kind, is a programming
/// error and traps.
public struct Arguments: Sendable, Hashable {
  /// The values by the parameters' own names.
  public let values: [String: ParameterValue]
  /// The assets that parameters name, by the parameters' own names.
  public let assets: [String: Asset]

  /// Wraps values that were checked against a description, and the assets that they name.
  package init(values: [String: ParameterValue], assets: [String: Asset] = [:]) {
    self.values = values
    self.assets = assets
  }

  /// The number of that name, in the parameter's unit.
  public func number(_ name: String) -> Double {
    guard case .number(let value) = self.values[name] else { Self.mismatch(name, "number") }
    return value
  }

  /// The length of that name.
  public func length(_ name: String) -> Length {
    guard case .length(let value) = self.values[name] else { Self.mismatch(name, "length") }
    return value
  }

  /// The place of that name.
  public func point(_ name: String) -> Point {
    guard case .point(let value) = self.values[name] else { Self.mismatch(name, "point") }
    return value
  }

  /// The colour of that name.
  public func color(_ name: String) -> Color {
    guard case .color(let value) = self.values[name] else { Self.mismatch(name, "colour") }
    return value
  }

  /// The numbers of that name, as many as the description says.
  public func vector(_ name: String) -> [Double] {
    guard case .vector(let value) = self.values[name] else { Self.mismatch(name, "vector") }
    return value
  }

  /// The flag of that name.
  public func flag(_ name: String) -> Bool {
    guard case .flag(let value) = self.values[name] else { Self.mismatch(name, "flag") }
    return value
  }

  /// The choice or the asset's name of that name.
  public func text(_ name: String) -> String {
    guard case .text(let value) = self.values[name] else { Self.mismatch(name, "text") }
    return value
  }

  /// The image that the parameter of that name names; `nil` if it names none.
  public func image(_ name: String) -> ImageAsset? {
    guard case .image(let image) = self.assets[name] else { return nil }
    return image
  }

  /// The lookup table that the parameter of that name names; `nil` if it names none.
  public func cube(_ name: String) -> CubeAsset? {
    guard case .cube(let cube) = self.assets[name] else { return nil }
    return cube
  }

  private static func mismatch(_ name: String, _ kind: String) -> Never {
    preconditionFailure("the filter's description has no \(kind) named \(name)")
  }
}
