/// What a filter is called, takes, computes and promises. The catalogue, the command line, the
/// reference page and `DescribeFilter` are all made from it.
public struct FilterDescription: Sendable, Hashable {
  /// Where a filter stands in lists.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    case color
    case effect
    case blur
    case sharpen
    case stylize
    case distortion
    case geometry
    case compositing
    case analysis
    case custom
  }

  /// What a filter needs to see of the frame to compute one pixel; so, whether it fuses.
  public enum Reach: String, Sendable, Hashable, CaseIterable {
    /// The pixel itself. Folds or fuses with its neighbours in the pipeline.
    case pixel
    /// A neighbourhood of fixed size. Takes pointwise neighbours into its load and store.
    case neighborhood
    /// Anything.
    case frame
  }

  /// Lower camel case, Core Image's without `CI`.
  public let name: String
  /// One line.
  public let summary: String
  /// Where it stands in lists.
  public let category: Category
  /// What it needs to see, and so whether it fuses.
  public let reach: Reach
  /// How close it is to the filter that it is named after.
  public let fidelity: Fidelity
  /// The computation in words and symbols, with the source where it is somebody's.
  public let formula: String
  /// In the order in which they are shown.
  public let parameters: [ParameterDescription]

  /// Describes a filter.
  public init(
    name: String, summary: String, category: Category, reach: Reach, fidelity: Fidelity,
    formula: String, parameters: [ParameterDescription] = []
  ) {
    self.name = name
    self.summary = summary
    self.category = category
    self.reach = reach
    self.fidelity = fidelity
    self.formula = formula
    self.parameters = parameters
  }
}

/// How close a filter can be to the one that it is named after.
public enum Fidelity: String, Sendable, Hashable, CaseIterable {
  /// The computation is documented or exact.
  case formula
  /// The behaviour is documented; our formula reproduces it.
  case modelled
  /// A fixed look, tuned by eye.
  case approximation
  /// A filter of somebody's own: it is what it is.
  case custom
}

/// What a filter's parameter is called, takes and means.
public struct ParameterDescription: Sendable, Hashable {
  /// The kind of value that the parameter takes.
  public enum Kind: Sendable, Hashable {
    case number
    /// A length; a bare number is pixels.
    case length
    case point
    case color
    /// That many numbers.
    case vector(count: Int)
    case flag
    /// One of the names.
    case choice([String])
    /// The name of an asset.
    case asset
  }

  /// What a number counts.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    /// A bare number.
    case none
    case pixels
    case radians
    case kelvin
    /// Photographic stops: doublings of light.
    case stops
  }

  /// Lower camel case, Core Image's without `input`.
  public let name: String
  /// The kind of value.
  public let kind: Kind
  /// What the parameter is if it is not given; a parameter without default must be given.
  public let defaultValue: ParameterValue?
  /// What a slider shows. Not a limit: real guides go beyond it.
  public let slider: ClosedRange<Double>?
  /// Values beyond these are refused. Lengths are limited in pixels.
  public let limits: ClosedRange<Double>?
  /// What the number counts.
  public let unit: Unit
  /// What kind of asset the parameter names; `nil` for other parameters. An asset's name that is
  /// empty, where that is the default, stands for none.
  public let assetKind: Asset.Kind?
  /// Whether ``Asset/sourceName`` may stand in an asset's place: the frame as it came in.
  public let acceptsSource: Bool
  /// One line.
  public let summary: String

  /// Describes a parameter.
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
}
