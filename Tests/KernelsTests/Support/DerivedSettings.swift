import SidelightKernels

extension FilterDescription {
  /// Pipelines of the filter with the settings that follow from its description: the defaults, and
  /// each parameter at both limits and at two values between, with the others at their defaults.
  /// Settings that contradict the defaults of others, which the catalogue refuses, are left out.
  ///
  /// - Throws: `PipelineError` if the catalogue refuses the defaults.
  func derivedSettings(
    in catalogue: FilterCatalogue
  ) throws -> [(pipeline: Pipeline, isAtLimit: Bool)] {
    var required: [String: ParameterValue] = [:]
    for parameter in self.parameters where parameter.defaultValue == nil {
      required[parameter.name] = parameter.derivedValues.first
    }
    let defaults: Pipeline = [.filter(self.name, required)]
    _ = try catalogue.resolve(defaults)
    let settings = self.parameters.flatMap { parameter in
      let values = parameter.derivedValues
      return values.enumerated().map { index, value in
        let stage = Stage.filter(self.name, required.merging([parameter.name: value]) { $1 })
        let isAtLimit =
          parameter.hasLimits && [0, values.count - 1].contains(index)
          || parameter.isVector
        return (pipeline: [stage] as Pipeline, isAtLimit: isAtLimit)
      }
    }
    return [(defaults, false)] + settings.filter { (try? catalogue.resolve($0.pipeline)) != nil }
  }
}

extension ParameterDescription {
  /// Both limits and two values between; all choices; the assets of random chains.
  fileprivate var derivedValues: [ParameterValue] {
    switch self.kind {
    case .number: self.numbers.map { .number($0) }
    // Far larger than the frames of the tests.
    case .length: self.numbers.map { .number(min($0, 200)) }
    // The components differ: equal ones cancel each other in some filters.
    case .vector(let count) where self.unit == .none:
      self.numbers.indices.map { first in
        .vector((0 ..< count).map { self.numbers[(first + $0) % self.numbers.count] })
      }
    // A white point: a temperature and a tint, whose limits differ.
    case .vector: [2000.0, 4400, 7600, 10_000].map { .vector([$0, 0]) }
    case .color: self.numbers.map { .vector([$0, 0.5, 1 - $0]) }
    case .point: [.vector([-40, 3.3]), .vector([5, 7.5]), .point(.center), .vector([9, 400])]
    case .flag: [.flag(false), .flag(true)]
    case .choice(let names): names.map { .text($0) }
    case .asset:
      switch self.assetKind {
      case .cube?: ChainAssets.cubes.map { .text($0) }
      case .image?: ChainAssets.images.map { .text($0) }
      default: []
      }
    case .text: []
    }
  }

  /// Whether the first and the last derived value are limits.
  fileprivate var hasLimits: Bool {
    switch self.kind {
    case .number, .length, .color: true
    case .vector, .point, .flag, .choice, .asset, .text: false
    }
  }

  /// Whether each derived value has components at limits.
  fileprivate var isVector: Bool { if case .vector = self.kind { true } else { false } }

  private var numbers: [Double] {
    let range = self.slider ?? self.limits ?? 0 ... 1
    let limits = self.limits ?? range
    let width = range.upperBound - range.lowerBound
    return [
      limits.lowerBound, range.lowerBound + width * 0.3, range.lowerBound + width * 0.7,
      limits.upperBound,
    ]
  }
}
