/// A filter's name, parameters, formula and properties. The catalogue, the command line, the
/// reference page and `DescribeFilter` are generated from it.
public struct FilterDescription: Sendable, Hashable {
  /// The category of a filter in lists.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    case color
    case effect
    case blur
    case sharpen
    case stylize
    case distortion
    case geometry
    case compositing
    case generator
    case halftone
    case tile
    case transition
    case reduction
    case analysis
    case custom
  }

  /// The part of the frame that a pixel depends on. It determines whether the filter fuses.
  public enum Reach: String, Sendable, Hashable, CaseIterable {
    /// The pixel. Such filters fold or fuse with their neighbours in the pipeline.
    case pixel
    /// A neighbourhood of fixed size. Its load and store include pointwise neighbours in the
    /// pipeline.
    case neighborhood
    /// The whole frame.
    case frame
  }

  /// A part of Sidelight that not every build has.
  public enum Requirement: String, Sendable, Hashable, CaseIterable {
    /// The module SidelightVision with the package trait `Vision`, and OpenCV.
    case vision = "Vision"
    /// The module SidelightText, and fonts.
    case text = "SidelightText"
  }

  /// The name in lower camel case: Core Image's without `CI`.
  public let name: String
  /// One line.
  public let summary: String
  /// The category in lists.
  public let category: Category
  /// The part of the frame on which one pixel depends.
  public let reach: Reach
  /// The relation to the Core Image filter of the same name.
  public let fidelity: Fidelity
  /// Whether Core Image has the filter under the same name.
  public let isCoreImage: Bool
  /// The name of the filter in Core Image, `CISepiaTone`; `nil` if Core Image doesn't have it.
  public var coreImageName: String? {
    self.isCoreImage ? "CI" + self.name.prefix(1).uppercased() + self.name.dropFirst() : nil
  }
  /// Words for searches that neither the name nor the summary contains, separated by spaces.
  public let keywords: String
  /// Pipelines in text form that show the filter, their last stage. Earlier stages change a picture
  /// to one on which the filter has an effect. The gallery shows all; user interfaces add a filter
  /// with the parameters of the first one that names no asset. Empty if the defaults show it.
  public let examples: [String]
  /// The computation in words and symbols, with the source of a published formula.
  public let formula: String
  /// The parameters, in the order in which they are shown.
  public private(set) var parameters: [ParameterDescription]
  /// The part of Sidelight that the filter needs and that a build may lack; `nil` for filters that
  /// are always available.
  public let requirement: Requirement?
  /// Whether another process computes the filter. It then never holds a thread of this one.
  package var isRemote = false

  /// Creates a description.
  public init(
    name: String, summary: String, category: Category, reach: Reach, fidelity: Fidelity,
    isCoreImage: Bool = false, keywords: String = "", examples: [String] = [], formula: String,
    parameters: [ParameterDescription] = [], requirement: Requirement? = nil
  ) {
    self.name = name
    self.summary = summary
    self.category = category
    self.reach = reach
    self.fidelity = fidelity
    self.isCoreImage = isCoreImage
    self.keywords = keywords
    self.examples = examples
    self.formula = formula
    self.parameters = parameters
    self.requirement = requirement
  }

  /// Returns the description with other parameters.
  func with(_ parameters: [ParameterDescription]) -> FilterDescription {
    var result = self
    result.parameters = parameters
    return result
  }
}

/// The relation of a filter to the Core Image filter of its name.
public enum Fidelity: String, Sendable, Hashable, CaseIterable {
  /// The computation is documented or exact.
  case formula
  /// The behaviour is documented; the formula reproduces it.
  case modelled
  /// A fixed look, tuned by eye.
  case approximation
  /// A custom filter.
  case custom
}

/// A filter's parameter: name, kind, default, range and meaning.
public struct ParameterDescription: Sendable, Hashable {
  /// The kind of value that the parameter takes.
  public enum Kind: Sendable, Hashable {
    case number
    /// A length; a bare number counts pixels.
    case length
    case point
    case color
    /// A list of `count` numbers.
    case vector(count: Int)
    case flag
    /// One of the names.
    case choice([String])
    /// The name of an asset.
    case asset
    /// Any text of at most ``Pipeline/maxTextBytes``.
    case text
  }

  /// The unit of a number.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    /// A bare number.
    case none
    case pixels
    case radians
    case kelvin
    /// Photographic stops: doublings of light.
    case stops
  }

  /// The name in lower camel case: Core Image's without `input`.
  public let name: String
  /// The kind of value.
  public let kind: Kind
  /// The default value; a parameter without one is required.
  public let defaultValue: ParameterValue?
  /// The range of a slider. It is not a limit.
  public let slider: ClosedRange<Double>?
  /// The accepted range; other values are rejected. Limits of lengths are in pixels.
  public let limits: ClosedRange<Double>?
  /// The unit of the number.
  public let unit: Unit
  /// The kind of asset that the parameter names; `nil` for other parameters. An empty name omits
  /// the asset if it is the default.
  public let assetKind: Asset.Kind?
  /// Whether the parameter accepts ``Asset/sourceName``, the frame before the first stage.
  public let acceptsSource: Bool
  /// One line.
  public let summary: String
  /// The defaults that replace ``defaultValue`` for some choices of an earlier parameter; `nil` for
  /// most parameters.
  package private(set) var choiceDefaults: ChoiceDefaults?

  /// Defaults that depend on a choice.
  package struct ChoiceDefaults: Sendable, Hashable {
    /// The parameter with the choice.
    package let parameter: String
    /// The defaults per choice.
    package let values: [String: ParameterValue]
  }

  /// Creates a description.
  public init(
    _ name: String, _ kind: Kind, default defaultValue: ParameterValue?,
    slider: ClosedRange<Double>? = nil, limits: ClosedRange<Double>? = nil, unit: Unit = .none,
    assetKind: Asset.Kind? = nil, acceptsSource: Bool = false, _ summary: String
  ) {
    self.name = name
    self.kind = kind
    self.defaultValue = defaultValue
    self.slider = slider
    self.limits = limits
    self.unit = unit
    self.assetKind = assetKind
    self.acceptsSource = acceptsSource
    self.summary = summary
  }

  /// Returns the description with other defaults for some choices of an earlier parameter.
  package func defaulting(
    to values: [String: ParameterValue], by parameter: String
  ) -> ParameterDescription {
    var result = self
    result.choiceDefaults = ChoiceDefaults(parameter: parameter, values: values)
    return result
  }

  /// Returns the default next to the values of earlier parameters.
  func defaultValue(after values: [String: ParameterValue]) -> ParameterValue? {
    guard let defaults = self.choiceDefaults,
      case .text(let choice)? = values[defaults.parameter]
    else { return self.defaultValue }
    return defaults.values[choice] ?? self.defaultValue
  }
}
