/// A builder of passes, which walks the items of a pipeline.
///
/// Pointwise operations are deferred until another item needs their result, to share a pass.
/// Pictures between passes are deep. In pictures with alpha, neighbourhoods are computed on
/// premultiplied colour.
///
/// Pictures in linear light hold red, green and blue for every pixel
/// (``WorkingSpace/format(for:)``): chroma that 2x2 pixels share is chroma of gamma-encoded colour,
/// and the four linear colours don't share chroma.
struct PassBuilder {
  private let input: FrameGeometry
  /// The geometry of the frame after the items so far.
  private var geometry: FrameGeometry
  /// The working space after the items so far.
  private var space = WorkingSpace.sRGBGamma
  /// The format of the latest picture.
  private var pictureFormat: PixelFormat
  private var steps: [PlannedPass] = []
  /// The latest picture: 0 is the input frame, n the result of pass n - 1.
  private var slot = 0
  private let budget: PlanBudget
  /// Whether the latest picture is premultiplied. The deferred operations do not count.
  private var isPremultiplied: Bool
  /// Whether the latest picture may hold premultiplied colour that exceeds its alpha.
  private var exceedsAlpha = false
  /// Whether the latest pass limits colour to alpha if its output is a frame.
  private var limitsLast = false
  /// The source frame by the sizes in which it was needed.
  private var sources: [FrameSize: Int] = [:]
  /// The distance to which the items so far may have spread the frame's contents.
  private var spread = ContentSpread()
  /// The latest picture before its conversion back to the frame's encoding, if that conversion is
  /// the last pass.
  private var converted: (slot: Int, geometry: FrameGeometry, steps: Int)?
  private var deferred: [PointOperation] = []
  private var deferredFilters: [String] = []

  init(geometry: FrameGeometry, budget: PlanBudget) {
    self.budget = budget
    self.input = geometry
    self.geometry = geometry
    self.pictureFormat = geometry.format
    self.isPremultiplied = geometry.alpha == .premultiplied
  }

  mutating func append(_ items: [PlanItem]) {
    for item in items { self.append(item) }
  }

  /// Computes the deferred operations, and turns the last picture into a frame.
  ///
  /// - Parameters:
  ///   - encoding: The encoding of results; `nil` keeps the input's encoding.
  ///   - analyses: The analyses of the pipeline.
  ///   - sceneStages: The scene stages of the pipeline.
  ///   - idleStages: The filters without effect.
  consuming func finish(
    as encoding: FrameEncoding?, analyses: [PlannedAnalysis] = [],
    sceneStages: [PlannedSceneStage] = [], idleStages: [IdleStage] = []
  ) -> Plan {
    if let encoding, !encoding.matches(self.geometry) {
      self.convert(to: encoding)
    } else {
      self.makeFrame()
    }
    guard !self.budget.isExceeded else {
      return Plan(
        input: self.input, output: self.geometry,
        refused: PlanRefusal(
          byteCount: self.budget.spent, limit: self.budget.limit, isShared: false))
    }
    return Plan(
      input: self.input, output: self.geometry, steps: self.steps, analyses: analyses,
      sceneStages: sceneStages, idleStages: idleStages, byteCost: self.budget.spent)
  }

  /// Computes the deferred operations, and turns the latest picture into a frame's samples.
  mutating func makeFrame() {
    let wanted = self.geometry.alpha == .premultiplied
    let exceeds = wanted && self.exceedsAlpha && !self.limitsLast
    if !self.deferred.isEmpty || self.isPremultiplied != wanted || exceeds {
      self.flush(depth: .eight, premultiplied: wanted)
    } else if self.slot > 0 {
      self.steps[self.slot - 1].depth = .eight
    }
  }

  private mutating func append(_ item: PlanItem) {
    if case .convert(let space) = item { self.space = space }
    if let (operation, filters) = item.pointwise {
      if case .matrix(let matrix) = operation, matrix == .identity { return }
      self.separateFields(from: operation)
      PointOperation.append(operation, to: &self.deferred)
      self.deferredFilters = self.deferred.isEmpty ? [] : self.deferredFilters + filters
      return
    }
    switch item {
    case .node(let node, let filter):
      switch node.kind {
      case .neighborhood(let operation): self.append(operation, filter)
      case .mixed(let nodes, let amount):
        self.append(
          group: nodes.map { .node($0, filter: filter) }, amount: amount, rect: nil)
      case .window(let kernel): self.append(kernel, filter)
      case .frame(let body): self.append(body, filter)
      case .drawing(let operation): self.append(operation, filter)
      case .source(let kernel): self.append(kernel, filter)
      case .analysis, .scene: break  // the planner collects analyses and numbers scene stages
      case .matrix, .field, .kernel: break  // pointwise, handled above
      }
    case .scene(let operation, let index, let filter):
      self.append(operation, index: index, filter)
    case .group(let items, let amount, let rect):
      self.append(group: items, amount: amount, rect: rect)
    case .convert: break  // pointwise, handled above
    }
  }

  private mutating func append(_ operation: any NeighborhoodOperation, _ filter: String) {
    let hasAlpha = self.geometry.alpha != .opaque
    self.flush(
      depth: .deep, premultiplied: operation.mixesPixels ? hasAlpha : self.isPremultiplied)
    let description = PassDescription(
      filters: [filter], kind: operation.kind, summary: operation.summary)
    let pass = operation.makePass(
      PassSetting(
        description: description, geometry: self.picture, isPremultiplied: self.isPremultiplied))
    self.spread.add(operation, in: self.geometry)
    self.geometry = operation.output(for: self.geometry)
    self.emit(pass, inputs: [self.slot], depth: .deep)
    self.exceedsAlpha = self.exceedsAlpha || !operation.averages || operation.limitsLast
    self.limitsLast = operation.limitsLast
  }

  private mutating func append(_ kernel: any NeighborhoodKernel, _ filter: String) {
    self.flush(depth: .deep, premultiplied: self.geometry.alpha != .opaque)
    let description = PassDescription(
      filters: [filter], kind: .neighborhood,
      summary: "a kernel over \(2 * kernel.reach + 1)x\(2 * kernel.reach + 1) pixels")
    let pass = WindowPass(
      description: description, kernel: kernel, color: self.geometry.color)
    self.spread.add(kernel)
    self.emit(pass, inputs: [self.slot], depth: .deep)
    self.exceedsAlpha = true
  }

  private mutating func append(
    _ body: @escaping @Sendable (Frame, inout MutableFrame, FrameTime) throws -> Void,
    _ filter: String
  ) {
    // The function reads and writes ordinary frames.
    self.makeFrame()
    let description = PassDescription(
      filters: [filter], kind: .frame, summary: "a function of the whole frame")
    let pass = FramePass(description: description, color: self.geometry.color, body: body)
    self.spread.add(nil)
    self.emit(pass, inputs: [self.slot], depth: .eight)
  }

  private mutating func append(
    _ operation: any SceneOperation, index: Int, _ filter: String
  ) {
    // The operation draws on ordinary frames.
    let encoding = FrameEncoding(format: self.geometry.format, color: self.geometry.color)
    let format = operation.format ?? encoding.format
    if let converted = self.converted, converted.geometry.format == format,
      converted.steps == self.steps.count, self.deferred.isEmpty
    {
      // The operation continues with the picture before the conversion.
      self.steps.removeLast()
      (self.slot, self.geometry) = (converted.slot, converted.geometry)
      self.pictureFormat = format
      self.isPremultiplied = self.geometry.alpha == .premultiplied
    } else if format == encoding.format {
      self.makeFrame()
    } else {
      self.convert(within: FrameEncoding(format: format, color: self.color(for: format)))
    }
    let description = PassDescription(
      filters: [filter], kind: .composite, summary: operation.summary)
    let setting = PassSetting(
      description: description, geometry: self.picture, spread: self.spread.distance)
    let pass = operation.makePass(setting, index: index)
    self.spread.add(operation.spread(in: self.geometry))
    self.geometry.size = operation.output(for: self.geometry.size)
    self.emit(pass, inputs: [self.slot], depth: .eight)
    guard format != encoding.format else { return }
    let (slot, geometry) = (self.slot, self.geometry)
    self.convert(within: encoding)
    self.converted = (slot, geometry, self.steps.count)
  }

  /// Returns the colour description of the frame in another format.
  private func color(for format: PixelFormat) -> ColorDescription {
    var color = self.geometry.color
    color.alpha = self.geometry.alpha
    return color
  }

  /// Converts the latest picture to a frame of another encoding, which further items follow.
  private mutating func convert(within encoding: FrameEncoding) {
    self.convert(to: encoding)
    self.isPremultiplied = self.geometry.alpha == .premultiplied
    self.exceedsAlpha = false
    self.deferred = []
    self.deferredFilters = []
  }

  private mutating func append(_ operation: any DrawingOperation, _ filter: String) {
    // The operation draws on ordinary frames.
    self.makeFrame()
    let description = PassDescription(
      filters: [filter], kind: .composite, summary: operation.summary)
    let pass = operation.makePass(
      PassSetting(description: description, geometry: self.picture))
    self.emit(pass, inputs: [self.slot], depth: .eight)
  }

  private mutating func append(_ kernel: SourceKernel, _ filter: String) {
    let source = self.source(for: filter)
    self.flushIfReading(otherThan: source.slot)
    self.deferred.append(
      .source(kernel, slot: source.slot, isPremultiplied: source.isPremultiplied))
    self.deferredFilters.append(filter)
  }

  /// Returns the source frame, scaled to the size of the latest picture.
  private mutating func source(for filter: String) -> (slot: Int, isPremultiplied: Bool) {
    let alpha = self.input.alpha
    guard self.geometry.size != self.input.size else { return (0, alpha == .premultiplied) }
    if let slot = self.sources[self.geometry.size] { return (slot, alpha != .opaque) }
    var slot = 0
    if alpha == .straight {
      var compiler = StripCompiler(
        size: self.input.size, isOpaque: false, isPremultiplied: false, budget: self.budget)
      let program = compiler.compile([], premultiplied: true, limited: false)
      let description = PassDescription(
        filters: [filter], kind: .pointwise, summary: "the source frame's colour times alpha")
      slot = self.emitAuxiliary(
        StripPass(description: description, program: program, color: self.input.color),
        input: 0, self.input)
    }
    let operation = ResampleOperation(
      origin: (0, 0),
      extent: (Double(self.input.size.width), Double(self.input.size.height)),
      size: self.geometry.size)
    let description = PassDescription(
      filters: [filter], kind: operation.kind, summary: "the source frame: \(operation.summary)")
    let pass = operation.makePass(PassSetting(description: description, geometry: self.input))
    slot = self.emitAuxiliary(pass, input: slot, self.geometry)
    self.sources[self.geometry.size] = slot
    return (slot, alpha != .opaque)
  }

  private mutating func append(group items: [PlanItem], amount: Double, rect: PixelRect?) {
    if !self.deferred.isEmpty {
      self.flush(depth: .deep, premultiplied: self.geometry.alpha != .opaque)
    }
    let saved = (slot: self.slot, isPremultiplied: self.isPremultiplied)
    self.converted = nil
    self.append(items)
    self.flushIfReading(otherThan: saved.slot)
    self.deferred.append(
      .blend(
        slot: saved.slot, isPremultiplied: saved.isPremultiplied, amount: amount, rect: rect))
  }

  /// Computes the deferred operations if they read another earlier picture: a pass reads at most
  /// one.
  private mutating func flushIfReading(otherThan slot: Int) {
    guard self.deferred.contains(where: { ($0.slot ?? slot) != slot }) else { return }
    self.flush(depth: .deep, premultiplied: self.geometry.alpha != .opaque)
  }

  /// Computes the deferred operations if one of them and the next cannot share a pass: a pass with
  /// a matrix that depends on the frame is compiled for every frame, and fields take long.
  private mutating func separateFields(from next: PointOperation) {
    let isSeparate =
      next.isAdaptive && self.deferred.contains(where: \.hasField)
      || next.hasField && self.deferred.contains(where: \.isAdaptive)
    if isSeparate { self.flush(depth: .deep, premultiplied: self.isPremultiplied) }
  }

  /// Computes the deferred operations, if any, or converts alpha, if needed.
  private mutating func flush(depth: SampleDepth, premultiplied: Bool) {
    let limits = self.exceedsAlpha && premultiplied && depth == .eight
    guard !self.deferred.isEmpty || self.isPremultiplied != premultiplied || limits else { return }
    // Values are not limited between passes, and colour may become brighter than its alpha.
    self.exceedsAlpha = depth == .deep && (self.exceedsAlpha || !self.deferred.isEmpty)
    var inputs = [self.slot]
    if let slot = self.deferred.lazy.compactMap(\.slot).first { inputs.append(slot) }
    let summary =
      self.deferred.isEmpty
      ? limits
        ? "colour limited to alpha"
        : premultiplied ? "colour times alpha" : "colour divided by alpha"
      : PointOperation.summaries(self.deferred).joined(separator: ", then ")
    let filters = self.deferredFilters.isEmpty ? self.latestFilters : self.deferredFilters
    let description = PassDescription(
      filters: filters, kind: inputs.count > 1 ? .composite : .pointwise,
      summary: summary + ", in strips")
    let format = self.space.format(for: self.geometry.format)
    let passes = PointwisePasses(
      geometry: self.geometry, isPremultiplied: self.isPremultiplied,
      premultiplied: premultiplied,
      limited: depth == .eight && self.geometry.alpha == .premultiplied,
      areFrames: depth == .eight && self.latestDepth == .eight
        && premultiplied == self.isPremultiplied && format == self.pictureFormat)
    let pass: any Pass =
      self.deferred.contains(where: \.isAdaptive)
      ? AdaptivePointPass(description, self.deferred, passes)
      : passes.pass(description, self.deferred, budget: self.budget)
    self.deferred = []
    self.deferredFilters = []
    self.isPremultiplied = premultiplied
    self.pictureFormat = format
    self.emit(pass, inputs: inputs, depth: depth)
  }

  /// Computes the deferred operations, and converts the latest picture to a frame of another
  /// encoding.
  private mutating func convert(to encoding: FrameEncoding) {
    if self.deferred.contains(where: \.isAdaptive) { self.makeFrame() }
    let target = FrameGeometry(
      format: encoding.format, size: self.geometry.size, color: encoding.color)
    let conversion = FormatConversion(
      from: self.geometry, to: target, budget: self.budget)
    let summaries = PointOperation.summaries(self.deferred) + [conversion.summary]
    let filters = self.deferredFilters + ["convert"]
    var inputs = [self.slot]
    if let slot = self.deferred.lazy.compactMap(\.slot).first { inputs.append(slot) }
    func describe(_ summary: String) -> PassDescription {
      PassDescription(
        filters: filters, kind: inputs.count > 1 ? .composite : .pointwise, summary: summary)
    }
    let isFrame =
      self.latestDepth == .eight && self.isPremultiplied == (self.geometry.alpha == .premultiplied)
    let integers =
      isFrame && !self.exceedsAlpha
      ? conversion.integerPass(
        describe("folded: " + summaries.joined(separator: ", ")), self.deferred) : nil
    let pass: any Pass =
      integers
      ?? conversion.stripPass(
        describe(summaries.joined(separator: ", then ") + ", in strips"), self.deferred,
        isPremultiplied: self.isPremultiplied)
    self.geometry = target
    self.pictureFormat = target.format
    self.emit(pass, inputs: inputs, depth: .eight)
  }

  /// The geometry of the latest picture.
  private var picture: FrameGeometry {
    FrameGeometry(
      format: self.pictureFormat, size: self.geometry.size, color: self.geometry.color)
  }

  private var latestDepth: SampleDepth {
    self.slot > 0 ? self.steps[self.slot - 1].depth : .eight
  }

  private mutating func emit(_ pass: any Pass, inputs: [Int], depth: SampleDepth) {
    self.steps.append(
      PlannedPass(
        pass: pass, inputs: inputs, layout: Self.layout(self.picture), depth: depth))
    self.slot = self.steps.count
    self.limitsLast = false
  }

  /// Adds a pass with a deep result that doesn't become the latest picture.
  ///
  /// - Returns: The number of the result.
  private mutating func emitAuxiliary(
    _ pass: any Pass, input: Int, _ geometry: FrameGeometry
  ) -> Int {
    self.steps.append(
      PlannedPass(pass: pass, inputs: [input], layout: Self.layout(geometry), depth: .deep))
    return self.steps.count
  }

  private static func layout(_ geometry: FrameGeometry) -> FrameLayout {
    // Every geometry here is valid: the input's is a frame's, and filters keep within the limits.
    guard let layout = try? FrameLayout(aligned: geometry.format, size: geometry.size)
    else { preconditionFailure("no frame has the geometry \(geometry)") }
    return layout
  }

  /// The filters of the latest pass, for passes that prepare or finish the work of others.
  private var latestFilters: [String] {
    self.slot > 0 ? self.steps[self.slot - 1].pass.description.filters : []
  }
}

extension PointOperation {
  /// The number of the earlier picture that the operation reads; `nil` for other operations.
  var slot: Int? {
    switch self {
    case .blend(let slot, _, _, _), .source(_, let slot, _): slot
    case .matrix, .field, .kernel, .transfer, .adaptive, .group: nil
    }
  }
}
