import SidelightKernelLanguage
import SidelightKernels

/// A generator of the random stages of a chain, which tracks by how much they magnify errors.
struct RandomStages {
  private var random: TestRandom
  private let size: FrameSize
  /// Whether pixels of the format share chroma samples.
  private let sharesChroma: Bool
  private let smoothly: Bool
  /// The factor by which the stages so far may magnify errors.
  private var gain = 1.0
  /// The number of stages so far, nested ones included.
  private var count = 0
  /// Whether the chain has a stage that permits an additional level of difference.
  private(set) var isCoarse = false

  init(random: TestRandom, geometry: FrameGeometry, smoothly: Bool) {
    self.random = random
    self.size = geometry.size
    self.sharesChroma = geometry.format.isYUV || geometry.format == .gray8
    self.smoothly = smoothly
  }

  mutating func pipeline(depth: Int = 0) -> Pipeline {
    Pipeline(
      stages: (0 ..< Int.random(in: 1 ... 4, using: &self.random)).map { _ in
        var stage = self.stage(depth: depth)
        // Pictures between passes have the chroma of the format, and the reference does not reduce
        // chroma before a mix within a mix.
        if depth > 0, self.smoothly, self.sharesChroma, !stage.isPointwise { return stage }
        if self.chance(4) { stage.mix = .random(in: 0 ... 1, using: &self.random) }
        if self.chance(4) { stage.region = self.region() }
        stage.isActive = !self.chance(8)
        return stage
      })
  }

  private mutating func stage(depth: Int) -> Stage {
    // Far below the maximum number of stages of a pipeline.
    if depth < 2, self.count < 10, self.chance(8) {
      return Stage(.pipeline(self.pipeline(depth: depth + 1)))
    }
    while true {
      let description = Self.descriptions[
        Int.random(in: 0 ..< Self.descriptions.count, using: &self.random)]
      let recipe = StageRecipe.all[description.name] ?? StageRecipe()
      let isTooSteep =
        recipe.isDiscontinuous && self.count > 0 || self.gain * recipe.gain > 4
      if self.smoothly, isTooSteep { continue }
      self.count += 1
      self.gain *= recipe.gain
      var parameters: [String: ParameterValue] = [:]
      for parameter in description.parameters {
        // Defaults matter too, but the defaults of lengths are for large frames.
        if parameter.defaultValue != nil, self.chance(6), parameter.kind != .length { continue }
        parameters[parameter.name] = self.value(parameter, recipe)
      }
      self.record(description.name, parameters)
      return .filter(description.name, parameters)
    }
  }

  private mutating func record(_ name: String, _ parameters: [String: ParameterValue]) {
    switch name {
    case "unsharpMask", "sharpenLuminance": self.isCoarse = true
    case "gaussianBlur", "bloom", "gloom":
      if case .number(let radius) = parameters["radius"], radius < 4.8 { return }
      self.isCoarse = true
    default: break
    }
  }

  private mutating func value(
    _ parameter: ParameterDescription, _ recipe: StageRecipe
  ) -> ParameterValue? {
    let range = recipe.ranges[parameter.name] ?? parameter.slider ?? 0 ... 1
    switch parameter.kind {
    case .number, .length: return .number(.random(in: range, using: &self.random))
    case .point:
      if self.chance(3) {
        return .vector([
          .random(in: -0.3 ... 1.2, using: &self.random) * Double(self.size.width),
          .random(in: -0.3 ... 1.2, using: &self.random) * Double(self.size.height),
        ])
      }
      return .point(
        FramePoint(
          x: Length(.random(in: -0.2 ... 1.2, using: &self.random), .width),
          y: Length(.random(in: -0.2 ... 1.2, using: &self.random), .height)))
    case .color:
      return .vector((0 ..< 3).map { _ in .random(in: range, using: &self.random) })
    case .vector:
      return recipe.vectors[parameter.name].map { .vector($0(&self.random)) }
    case .flag: return .flag(self.chance(2))
    case .choice(let all):
      let names = recipe.choices[parameter.name] ?? all
      return .text(names[Int.random(in: 0 ..< names.count, using: &self.random)])
    case .text:
      return recipe.choices[parameter.name]?.randomElement(using: &self.random).map { .text($0) }
    case .asset where parameter.assetKind == .kernel: return .text("")
    case .asset:
      let names = parameter.assetKind == .cube ? ChainAssets.cubes : ChainAssets.images
      return .text(names[Int.random(in: 0 ..< names.count, using: &self.random)])
    }
  }

  private mutating func region() -> Region {
    func length(_ range: ClosedRange<Double>, _ unit: Length.Unit) -> Length {
      self.chance(3)
        ? Length(.random(in: range, using: &self.random) * 30)
        : Length(.random(in: range, using: &self.random), unit)
    }
    return Region(
      origin: FramePoint(x: length(-0.3 ... 0.8, .width), y: length(-0.3 ... 0.8, .height)),
      width: length(0 ... 0.9, .width), height: length(0 ... 0.9, .height))
  }

  private mutating func chance(_ oneIn: Int) -> Bool {
    Int.random(in: 0 ..< oneIn, using: &self.random) == 0
  }

  /// The kernels of the catalogue that are colour matrices.
  private static let matrices: Set<String> = [
    "colorControls", "colorInvert", "exposureAdjust", "grayscale", "hueAdjust", "sepiaTone",
    "whitePointAdjust",
  ]

  /// Filters of backgrounds depend on earlier frames, and refuse a mix and a region. The kernels of
  /// the catalogue have their own suite; the chains contain the filter `kernel`, which runs the same
  /// code.
  static let descriptions = {
    let left = ["backgroundBlur", "virtualBackground"] + KernelCatalogue.texts.map(\.name)
    return FilterCatalogue.builtIn.descriptions.filter { filter in
      !left.contains(filter.name) || Self.matrices.contains(filter.name)
    }
  }()
}

extension Stage {
  /// Whether the pixels of the result depend only on the same pixel of the input.
  fileprivate var isPointwise: Bool {
    switch self.content {
    case .filter(let call):
      FilterCatalogue.builtIn.description(named: call.name)?.reach == .pixel
    case .pipeline(let inner): inner.stages.allSatisfy(\.isPointwise)
    }
  }
}
