/// An operation on frames, as a value.
///
/// A filter holds its parameters, but not pixels or state. It describes its work as ``FilterNode``
/// values, which the planner lowers to passes. Built-in and custom filters conform to the same
/// protocol.
public protocol Filter: Sendable {
  /// The filter's name, parameters, formula and properties.
  var description: FilterDescription { get }

  /// Returns the nodes of the filter for frames of the given geometry, first to last.
  ///
  /// Called when a plan is compiled, not for every frame. An empty array means that the filter
  /// doesn't change the frame.
  func nodes(for geometry: FrameGeometry) -> [FilterNode]

  /// Returns the nodes of the filter in a working space. Only filters that bring in pictures, which
  /// have to be converted, implement it; the default ignores the space.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode]
}

extension Filter {
  /// Returns the nodes of the filter, the same in every space.
  public func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    self.nodes(for: geometry)
  }
}

/// A filter that a catalogue creates from a call's parameters.
///
/// Conform a struct, declare its description, read the parameters in the initialiser, and register
/// the type: `catalogue.register(SepiaTone.self)`.
public protocol CatalogueFilter: Filter {
  /// The filter's name, parameters, formula and properties.
  static var description: FilterDescription { get }

  /// Reads the parameters.
  ///
  /// - Parameter arguments: A value for every parameter of the description: given or default, of
  ///   the right kind, finite and within the limits.
  init(_ arguments: Arguments)
}

extension CatalogueFilter {
  /// The description of the type.
  public var description: FilterDescription { Self.description }
}

/// A filter that keeps its arguments and reads them when it returns its nodes.
protocol ArgumentFilter: CatalogueFilter {
  var arguments: Arguments { get }
  init(arguments: Arguments)
}

extension ArgumentFilter {
  init(_ arguments: Arguments) { self.init(arguments: arguments) }
}

/// A filter that brings in pictures or needs gamma-encoded colour: it implements
/// ``Filter/nodes(for:in:)`` alone.
package protocol SpaceDependentFilter: Filter {}

extension SpaceDependentFilter {
  package func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }
}

/// A filter that can take other parameter values at less cost than being created again.
package protocol AdjustableFilter: Filter {
  /// Returns the same filter with other parameter values.
  func with(_ arguments: Arguments) -> Self
}

/// A filter that checks its parameters beyond its description's limits.
package protocol CheckedFilter: Filter {
  /// The first invalid parameter; `nil` if all are valid. A pipeline with an invalid stage does not
  /// resolve.
  var violation: ArgumentViolation? { get }
}

/// An invalid value of a parameter.
package struct ArgumentViolation: Sendable, Hashable {
  package let parameter: String
  /// The parameter's name, the error, the limit and the remedy.
  package let message: String
  /// A valid value that is near; `nil` if the error has no suggestion.
  package var suggestion: String?

  package init(_ parameter: String, _ message: String, suggestion: String? = nil) {
    self.parameter = parameter
    self.message = message
    self.suggestion = suggestion
  }
}

/// A filter's validated parameters: a value for every parameter of its description, given or
/// default, of the right kind, finite and within its limits.
///
/// Reading a parameter that the description does not have, or as another kind, is a programming
/// error and traps.
public struct Arguments: Sendable, Hashable {
  /// The values by the parameters' canonical names.
  public let values: [String: ParameterValue]
  /// The assets that parameters name, by the parameters' canonical names.
  public let assets: [String: Asset]

  /// Creates arguments from validated values and their assets.
  package init(values: [String: ParameterValue], assets: [String: Asset] = [:]) {
    self.values = values
    self.assets = assets
  }

  /// Returns the number of that name, in the parameter's unit.
  public func number(_ name: String) -> Double {
    guard case .number(let value) = self.values[name] else { Self.mismatch(name, "number") }
    return value
  }

  /// Returns the length of that name.
  public func length(_ name: String) -> Length {
    guard case .length(let value) = self.values[name] else { Self.mismatch(name, "length") }
    return value
  }

  /// Returns the position of that name.
  public func point(_ name: String) -> FramePoint {
    guard case .point(let value) = self.values[name] else { Self.mismatch(name, "point") }
    return value
  }

  /// Returns the colour of that name.
  public func color(_ name: String) -> RGBAColor {
    guard case .color(let value) = self.values[name] else { Self.mismatch(name, "colour") }
    return value
  }

  /// Returns the numbers of that name; the description states their count.
  public func vector(_ name: String) -> [Double] {
    guard case .vector(let value) = self.values[name] else { Self.mismatch(name, "vector") }
    return value
  }

  /// Returns the flag of that name.
  public func flag(_ name: String) -> Bool {
    guard case .flag(let value) = self.values[name] else { Self.mismatch(name, "flag") }
    return value
  }

  /// Returns the text of that name: a text, a choice or an asset's name.
  public func text(_ name: String) -> String {
    guard case .text(let value) = self.values[name] else { Self.mismatch(name, "text") }
    return value
  }

  /// Returns the image of the named parameter; `nil` if its value isn't an image.
  public func image(_ name: String) -> ImageAsset? {
    guard case .image(let image) = self.assets[name] else { return nil }
    return image
  }

  /// Returns the lookup table of the named parameter; `nil` if its value isn't a lookup table.
  public func cube(_ name: String) -> CubeAsset? {
    guard case .cube(let cube) = self.assets[name] else { return nil }
    return cube
  }

  /// Returns the font of the named parameter; `nil` if its value isn't a font.
  public func font(_ name: String) -> FontAsset? {
    guard case .font(let font) = self.assets[name] else { return nil }
    return font
  }

  /// Returns the kernel of the named parameter; `nil` if its value isn't a kernel.
  public func kernel(_ name: String) -> KernelAsset? {
    guard case .kernel(let kernel) = self.assets[name] else { return nil }
    return kernel
  }

  private static func mismatch(_ name: String, _ kind: String) -> Never {
    preconditionFailure("the filter's description has no \(kind) named \(name)")
  }
}

/// A custom filter without parameters.
///
/// ```swift
/// catalogue.register(CustomFilter("solarize", "Bends the tones.", color: Solarize()))
/// ```
///
/// For a filter with parameters, conform to ``CatalogueFilter`` and return the same nodes.
public struct CustomFilter: Filter {
  /// The filter's name, summary and properties.
  public let description: FilterDescription
  private let node: FilterNode

  /// Creates a filter of single pixels' colours. It fuses with its neighbours in the pipeline.
  public init(_ name: String, _ summary: String, color kernel: some ColorKernel) {
    self.init(name, summary, .pixel, .colorKernel(kernel))
  }

  /// Creates a filter of pixels' neighbourhoods.
  ///
  /// - Precondition: The kernel's reach is in 0 ... 64.
  public init(_ name: String, _ summary: String, neighborhood kernel: some NeighborhoodKernel) {
    self.init(name, summary, .neighborhood, .neighborhoodKernel(kernel))
  }

  /// Creates a filter from a function of the whole frame.
  ///
  /// - Parameters:
  ///   - name: The filter's name, in lower camel case.
  ///   - summary: One line.
  ///   - body: Reads the first frame and writes the samples of the second, which has the same
  ///     geometry and is initialised to zeros. It must not replace the second frame. Called on
  ///     compute threads, concurrently for several frames.
  public init(
    _ name: String, _ summary: String,
    frame body: @escaping @Sendable (Frame, inout MutableFrame, FrameTime) throws -> Void
  ) {
    self.init(name, summary, .frame, .frame(body))
  }

  /// Creates a filter that analyses frames and does not change them.
  public init(_ name: String, _ summary: String, analysis: some FrameAnalysis) {
    self.init(name, summary, .frame, .analysis(analysis), category: .analysis)
  }

  private init(
    _ name: String, _ summary: String, _ reach: FilterDescription.Reach, _ node: FilterNode,
    category: FilterDescription.Category = .custom
  ) {
    self.description = FilterDescription(
      name: name, summary: summary, category: category, reach: reach, fidelity: .custom,
      formula: "A custom filter of this server")
    self.node = node
  }

  /// The filter's single node.
  public func nodes(for geometry: FrameGeometry) -> [FilterNode] { [self.node] }
}
