extension FilterCatalogue {
  /// Looks up the filters that a pipeline names, and validates all of its values.
  ///
  /// Filters and parameters may have the names of this library or of Core Image. A bare number is
  /// accepted for a length (pixels), a vector of two numbers for a point (pixels), and a vector of
  /// three or four for a colour.
  ///
  /// - Throws: ``PipelineError`` with the path of the first error.
  public func resolve(_ pipeline: Pipeline) throws(PipelineError) -> ResolvedPipeline {
    try pipeline.checkSizes()
    var resolver = PipelineResolver(catalogue: self)
    let space = pipeline.workingSpace ?? .sRGBGamma
    let items = try resolver.resolve(pipeline, in: space, path: "", depth: 1)
    try SceneRules.check(items, in: space, of: self)
    return ResolvedPipeline(items: items, workingSpace: space)
  }
}

/// A walk over a pipeline that checks it and creates its filters.
struct PipelineResolver {
  private let catalogue: FilterCatalogue
  private let permissions: FilterPermissions?
  private var stageCount = 0
  private var ids: [String: String] = [:]

  init(catalogue: FilterCatalogue) {
    self.catalogue = catalogue
    self.permissions = catalogue.permissions?.permissions
  }

  /// Resolves a pipeline's stages.
  ///
  /// - Parameters:
  ///   - path: The pipeline's path, with a trailing dot unless empty.
  ///   - depth: 1 for the outermost pipeline.
  mutating func resolve(
    _ pipeline: Pipeline, in space: WorkingSpace, path: String, depth: Int
  ) throws(PipelineError) -> [ResolvedStage] {
    guard depth <= Pipeline.maxDepth else {
      throw PipelineError(
        code: .tooDeep, path: path.isEmpty ? "pipeline" : String(path.dropLast()),
        message: "pipelines nest deeper than \(Pipeline.maxDepth)", limit: "\(Pipeline.maxDepth)")
    }
    var resolved: [ResolvedStage] = []
    for (index, stage) in pipeline.stages.enumerated() {
      let stagePath = "\(path)stages[\(index)]"
      self.stageCount += 1
      guard self.stageCount <= Pipeline.maxStages else {
        throw PipelineError(
          code: .tooManyStages, path: stagePath,
          message: "the pipeline has more than \(Pipeline.maxStages) stages",
          limit: "\(Pipeline.maxStages)")
      }
      resolved.append(try self.resolve(stage, in: space, path: stagePath, depth: depth))
    }
    return resolved
  }

  private mutating func resolve(
    _ stage: Stage, in space: WorkingSpace, path: String, depth: Int
  ) throws(PipelineError) -> ResolvedStage {
    if let id = stage.id {
      if let other = self.ids[id] {
        throw PipelineError(
          code: .duplicateStageID, path: "\(path).id",
          message: "the id \"\(id)\" is also the id of \(other)", value: id)
      }
      self.ids[id] = path
    }
    guard stage.mix.isFinite, (0 ... 1).contains(stage.mix) else {
      throw PipelineError(
        code: .invalidStage, path: "\(path).mix",
        message: "mix is \(stage.mix), outside 0 ... 1", value: "\(stage.mix)", limit: "0 ... 1")
    }
    if let region = stage.region { try Self.check(region, path: "\(path).region") }
    let content: ResolvedStage.Content
    switch stage.content {
    case .filter(let call):
      content = try self.resolve(call, path: "\(path).filter")
    case .pipeline(let inner):
      let own = inner.workingSpace ?? space
      content = .stages(
        try self.resolve(inner, in: own, path: "\(path).pipeline.", depth: depth + 1), in: own)
    }
    return ResolvedStage(
      id: stage.id, isActive: stage.isActive, mix: stage.mix, region: stage.region,
      failurePolicy: stage.failurePolicy, content: content)
  }

  private func resolve(
    _ call: FilterCall, path: String
  ) throws(PipelineError) -> ResolvedStage.Content {
    guard let entry = self.catalogue.entry(named: call.name) else {
      if let (description, reason) = self.catalogue.unavailableFilter(named: call.name) {
        try self.permissions?.check(description, path: "\(path).name")
        throw PipelineError(
          code: .unavailableFilter, path: "\(path).name",
          message: "the filter \"\(description.name)\" is not available: \(reason)",
          value: description.name)
      }
      throw PipelineError(
        code: .unknownFilter, path: "\(path).name",
        message: "there is no filter named \"\(call.name.clipped(toBytes: 64))\"",
        suggestion: self.catalogue.nearestName(to: call.name), value: call.name)
    }
    try self.permissions?.check(entry.description, path: "\(path).name")
    let assets = self.catalogue.assets
    let description = entry.description.with(
      entry.description.parameters + (try entry.parameters?(call, assets, path) ?? []))
    let values = try ArgumentValidator(description: description, path: path)
      .validate(call.parameters)
    try self.permissions?.check(values.values, of: description, call, path: path)
    let arguments = try AssetFinder(provider: assets, path: path).find(for: description, values)
    let filter = entry.make(arguments)
    if let reason = (filter as? any SceneFilter)?.unavailability {
      throw PipelineError(
        code: .unavailableFilter, path: path,
        message: "\(entry.description.name) is not available with these parameters: \(reason)")
    }
    if let violation = (filter as? any CheckedFilter)?.violation {
      throw PipelineError(
        code: .outOfLimits, path: "\(path).parameters[\"\(violation.parameter)\"]",
        message: violation.message, suggestion: violation.suggestion)
    }
    return .filter(name: entry.description.name, arguments: arguments, value: filter)
  }

  private static func check(_ region: Region, path: String) throws(PipelineError) {
    let lengths = [
      ("origin.x", region.origin.x), ("origin.y", region.origin.y), ("width", region.width),
      ("height", region.height),
    ]
    for (name, length) in lengths {
      let limit = length.unit == .pixels ? Double(FrameLayout.maxDimension) : 1
      let least = name.hasPrefix("origin") ? -limit : 0
      guard length.value.isFinite, (least ... limit).contains(length.value) else {
        throw PipelineError(
          code: .invalidStage, path: "\(path).\(name)",
          message: "\(name) is \(length.value), outside \(least) ... \(limit)",
          value: "\(length.value)", limit: "\(least) ... \(limit)")
      }
    }
  }
}

/// A lookup of the assets that one call's parameters name.
struct AssetFinder {
  /// The source of assets.
  let provider: any AssetProvider
  /// The path of the call: `stages[0].filter`.
  let path: String

  /// Looks up the assets of a call.
  ///
  /// - Returns: The same arguments, with their assets.
  /// - Throws: ``PipelineError`` with code `unknownAsset`, and the nearest name.
  func find(
    for description: FilterDescription, _ arguments: Arguments
  ) throws(PipelineError) -> Arguments {
    var assets: [String: Asset] = [:]
    for parameter in description.parameters {
      guard let kind = parameter.assetKind, case .text(let name) = arguments.values[parameter.name]
      else { continue }
      if name.isEmpty, parameter.defaultValue == .text("") { continue }
      if name == Asset.sourceName, parameter.acceptsSource { continue }
      let path = "\(self.path).parameters[\"\(parameter.name)\"]"
      guard name != Asset.sourceName else {
        throw PipelineError(
          code: .unknownAsset, path: path,
          message: "\"\(name)\" is the source frame, which \(parameter.name) does not accept")
      }
      guard let asset = self.provider.asset(named: name) else {
        throw PipelineError(
          code: .unknownAsset, path: path,
          message: "there is no asset named \"\(name.clipped(toBytes: 64))\"",
          suggestion: Spelling.nearest(to: name, among: self.provider.names), value: name)
      }
      guard asset.kind == kind else {
        throw PipelineError(
          code: .unknownAsset, path: path,
          message:
            "the asset \"\(name.clipped(toBytes: 64))\" is \(asset.kind.displayName), "
            + "not \(kind.displayName)",
          value: name)
      }
      assets[parameter.name] = asset
    }
    return assets.isEmpty ? arguments : Arguments(values: arguments.values, assets: assets)
  }
}

extension Asset.Kind {
  /// The kind in error messages: `an image`.
  fileprivate var displayName: String {
    switch self {
    case .image: "an image"
    case .cube: "a colour cube"
    case .font: "a font"
    case .kernel: "a kernel"
    }
  }
}
