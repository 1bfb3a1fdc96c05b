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
