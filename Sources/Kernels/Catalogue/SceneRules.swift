/// The rules of pipelines with scene filters.
///
/// - Faces and mattes are found in the frame as it arrives. So no filter that moves pixels may come
///   before a scene filter.
/// - A filter that protects hides a part of the frame. So it and the pipelines around it have
///   neither a `mix` nor a `region`, which would leave the part visible, and no later filter reads
///   the source frame.
///
/// The rules hold for inactive stages too, because they can be activated at any time.
struct SceneRules {
  private let catalogue: FilterCatalogue
  /// The first filter so far that moves pixels.
  private var moving: String?
  /// The first filter so far that protects.
  private var protecting: String?

  init(catalogue: FilterCatalogue) {
    self.catalogue = catalogue
  }

  /// Checks stages in order.
  ///
  /// - Parameters:
  ///   - path: The path of the stages, with a trailing dot unless empty.
  ///   - mixed: The path of the outermost stage around them that has a `mix` or a `region`; `nil`
  ///     if there is none.
  mutating func check(
    _ stages: [ResolvedStage], path: String, mixed: String? = nil
  ) throws(PipelineError) {
    for (index, stage) in stages.enumerated() {
      let path = "\(path)stages[\(index)]"
      let isMixed = stage.mix < 1 || stage.region != nil
      let mixed = mixed ?? (isMixed ? "\(path).\(stage.region == nil ? "mix" : "region")" : nil)
      switch stage.content {
      case .stages(let inner, _):
        try self.check(inner, path: "\(path).pipeline.", mixed: mixed)
      case .filter(let name, let arguments, let value):
        try self.check(name, arguments, value, path: path, mixed: mixed)
      }
    }
  }

  private mutating func check(
    _ name: String, _ arguments: Arguments, _ filter: any Filter, path: String, mixed: String?
  ) throws(PipelineError) {
    let scene = (filter as? any SceneFilter).flatMap { $0.usesScene ? $0 : nil }
    if scene != nil, let moving = self.moving {
      throw PipelineError(
        code: .invalidStage, path: "\(path).filter.name",
        message: "\(name) comes after \(moving), which moves pixels; put it before, because "
          + "\(name) looks at the frame as it arrives")
    }
    if scene?.protects == true, let mixed {
      throw PipelineError(
        code: .invalidStage, path: mixed,
        message: "\(name) hides a part of the frame, which a mix or a region would show")
    }
    if let protecting = self.protecting, let parameter = self.source(in: arguments, of: name) {
      throw PipelineError(
        code: .invalidStage, path: "\(path).filter.parameters[\"\(parameter)\"]",
        message: "\"\(Asset.sourceName)\" is the frame before \(protecting), which hides a part "
          + "of it")
    }
    if scene?.protects == true { self.protecting = self.protecting ?? name }
    let category = filter.description.category
    if category == .geometry || category == .distortion { self.moving = self.moving ?? name }
  }

  /// The parameter that names the source frame; `nil` if there is none.
  private func source(in arguments: Arguments, of name: String) -> String? {
    let parameters = self.catalogue.entry(named: name)?.description.parameters ?? []
    return parameters.first {
      $0.acceptsSource && arguments.values[$0.name] == .text(Asset.sourceName)
    }?.name
  }
}
