/// A filter with an effect that depends on the contents of frames, such as faces.
///
/// Faces are found in frames as they arrive. A pipeline is therefore refused if a filter that moves
/// pixels comes before a scene filter (``SceneRules``).
package protocol SceneFilter: Filter {
  /// Whether the filter, with its arguments, depends on the scene.
  var usesScene: Bool { get }
  /// The reason why this program cannot run the filter with its arguments, as a clause: "this
  /// server is built without Vision"; `nil` if the filter can run. A pipeline with such a stage
  /// does not resolve.
  var unavailability: String? { get }
  /// Whether the filter hides a part of the frame. A frame that it was not applied to is never
  /// sent, and stages may not show the hidden part again.
  var protects: Bool { get }
}

extension SceneFilter {
  package var usesScene: Bool { true }
  package var unavailability: String? { nil }
  package var protects: Bool { false }
}

/// A filter that is a distortion only with some arguments.
package protocol WarpingFilter: Filter {
  /// Whether the filter, with its arguments, moves pixels as filters of distortion do.
  var warps: Bool { get }
}

/// The rules of pipelines with scene filters.
///
/// - Faces and mattes are found in the frame as it arrives. Filters of geometry or distortion must
///   therefore not come before a scene filter.
/// - A filter that protects hides a part of the frame as it arrives. A filter before it must not
///   move that part out of its cover, whatever its category: only filters that work on single
///   pixels, or take content equally from opposite sides of a pixel (``ContentSpread``), come
///   before it.
/// - It and the pipelines around it don't have a `mix` or a `region`, which would leave the part
///   visible, and later filters don't read the source frame.
///
/// The rules hold for inactive stages too, because they can be activated at any time.
struct SceneRules {
  /// A filter, and the path of its stage.
  private struct Place {
    let filter: String
    let path: String
  }

  /// The frames for which filters are asked for their steps: small ones, with alpha.
  private static let geometry = FrameGeometry(
    format: .bgra8, size: FrameSize(width: 320, height: 180))

  private let catalogue: FilterCatalogue
  /// The number of stages that protect and have not been checked yet.
  private var remaining: Int
  /// The first filter so far of geometry or distortion.
  private var warping: Place?
  /// The first filter so far that may move the frame's contents; only while stages that protect
  /// remain.
  private var moving: Place?
  /// The first filter so far that protects.
  private var protecting: String?

  static func check(
    _ stages: [ResolvedStage], in space: WorkingSpace, of catalogue: FilterCatalogue
  ) throws(PipelineError) {
    var rules = SceneRules(catalogue: catalogue, remaining: Self.protectingCount(stages))
    try rules.check(stages, in: space, path: "", mixed: nil)
  }

  /// Checks stages in order.
  ///
  /// - Parameters:
  ///   - path: The path of the stages, with a trailing dot unless empty.
  ///   - mixed: The path of the outermost stage around them that has a `mix` or a `region`; `nil`
  ///     if they have neither.
  private mutating func check(
    _ stages: [ResolvedStage], in space: WorkingSpace, path: String, mixed: String?
  ) throws(PipelineError) {
    for (index, stage) in stages.enumerated() {
      let path = "\(path)stages[\(index)]"
      let isMixed = stage.mix < 1 || stage.region != nil
      let mixed = mixed ?? (isMixed ? "\(path).\(stage.region == nil ? "mix" : "region")" : nil)
      switch stage.content {
      case .stages(let inner, let space):
        try self.check(inner, in: space, path: "\(path).pipeline.", mixed: mixed)
      case .filter(let name, let arguments, let value):
        try self.check(name, arguments, value, path: path, mixed: mixed)
        self.add(value, in: space, at: Place(filter: name, path: path))
      }
    }
  }

  private func check(
    _ name: String, _ arguments: Arguments, _ filter: any Filter, path: String, mixed: String?
  ) throws(PipelineError) {
    let scene = (filter as? any SceneFilter).flatMap { $0.usesScene ? $0 : nil }
    let protects = scene?.protects == true
    if scene != nil, let moving = protects ? self.moving : self.warping {
      throw PipelineError(
        code: .invalidStage, path: "\(path).filter.name",
        message: "\(name) comes after \(moving.filter) (\(moving.path)), which may move what the "
          + "frame shows; move \(moving.filter) after \(name), because \(name) looks at the frame as "
          + "it arrives")
    }
    if protects, let mixed {
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
  }

  /// Takes a filter into account for the filters after it.
  private mutating func add(_ filter: any Filter, in space: WorkingSpace, at place: Place) {
    if (filter as? any SceneFilter)?.protects == true {
      self.protecting = self.protecting ?? place.filter
      self.remaining -= 1
    }
    let moves: Set<FilterDescription.Category> = [.geometry, .distortion, .tile]
    let warps = (filter as? any WarpingFilter)?.warps ?? false
    if moves.contains(filter.description.category) || warps {
      self.warping = self.warping ?? place
    }
    if self.moving == nil, self.remaining > 0 {
      self.moving = self.warping ?? (Self.mayMove(filter, in: space) ? place : nil)
    }
  }

  /// Whether a filter may move the frame's contents.
  private static func mayMove(_ filter: any Filter, in space: WorkingSpace) -> Bool {
    // Its nodes may hold large images. If it does move pixels, against its description, the cover
    // applies to the whole frame.
    guard filter.description.reach != .pixel else { return false }
    var spread = ContentSpread()
    for node in filter.nodes(for: Self.geometry, in: space) {
      spread.add(node, in: Self.geometry)
    }
    return spread.distance == nil
  }

  /// The number of stages that protect, active or not.
  private static func protectingCount(_ stages: [ResolvedStage]) -> Int {
    stages.reduce(0) { count, stage in
      switch stage.content {
      case .filter(_, _, let value):
        (value as? any SceneFilter)?.protects == true ? count + 1 : count
      case .stages(let inner, _): count + Self.protectingCount(inner)
      }
    }
  }

  /// The parameter that names the source frame; `nil` if the filter doesn't read it.
  private func source(in arguments: Arguments, of name: String) -> String? {
    let parameters = self.catalogue.entry(named: name)?.description.parameters ?? []
    // The images of a kernel in text are not in the description of the filter.
    return arguments.values.keys.sorted().first { key in
      arguments.values[key] == .text(Asset.sourceName)
        && parameters.first { $0.name == key }?.acceptsSource ?? true
    }
  }
}

/// The distance to which the steps of a pipeline so far may have spread the frame's contents.
///
/// Filters that hide a part of the frame find it in the frame as it arrives, and cover it after
/// earlier steps. A step that takes content equally from opposite sides of a pixel spreads it by a
/// known distance. Other steps, such as a shift or a rotation, may move it out of its cover.
package struct ContentSpread: Sendable {
  /// The distance in pixels; `nil` if content may have moved to one side, or from any distance.
  package private(set) var distance: Double? = 0
  /// The margin around the frame that a later step removes.
  private var margin: MarginOperation?

  package init() {}

  /// The distance that the rounding of lengths adds, and the chroma that 2x2 pixels share.
  static let rounding = 2.0

  /// Returns the distance that a Gaussian blur adds: pixels beyond have a weight of 0
  /// (``SymmetricWeights/reach(gain:)``).
  package static func gaussian(sigma: Double) -> Double { 4.5 * sigma + Self.rounding }

  /// Adds a step.
  ///
  /// - Parameter distance: The distance that it adds; `nil` if it may move content.
  mutating func add(_ distance: Double?) {
    guard let sum = self.distance, let distance else { return self.distance = nil }
    self.distance = sum + distance
  }

  /// Adds an operation on neighbourhoods of pictures of a geometry.
  mutating func add(_ operation: any NeighborhoodOperation, in geometry: FrameGeometry) {
    if let margin = operation as? MarginOperation, self.margin == nil {
      self.margin = margin
    } else if let crop = operation as? ResampleOperation, let margin, crop.removes(margin) {
      self.margin = nil
    } else {
      self.add(operation.spread(in: geometry))
    }
  }

  /// Adds a custom function of neighbourhoods.
  mutating func add(_ kernel: any NeighborhoodKernel) {
    let isAlike = kernel is any SymmetricKernel || kernel.reach == 0
    self.add(isAlike ? Double(kernel.reach) + Self.rounding : nil)
  }

  /// Adds a node of a filter, for frames of a geometry.
  package mutating func add(_ node: FilterNode, in geometry: FrameGeometry) {
    switch node.kind {
    case .matrix, .field, .kernel, .source, .drawing, .analysis: break
    case .neighborhood(let operation): self.add(operation, in: geometry)
    case .window(let kernel): self.add(kernel)
    case .frame: self.add(nil)
    case .scene(let operation): self.add(operation.spread(in: geometry))
    case .mixed(let nodes, _): for node in nodes { self.add(node, in: geometry) }
    }
  }
}

extension ResampleOperation {
  /// Whether the operation is the crop that removes a margin.
  fileprivate func removes(_ margin: MarginOperation) -> Bool {
    self.origin == (Double(margin.left), Double(margin.top))
      && self.extent == (Double(self.size.width), Double(self.size.height))
  }
}
