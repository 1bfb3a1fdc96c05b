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
