/// Collects passes while it walks the items of a pipeline.
///
/// Pointwise operations wait until something needs their result, so that they share a pass. Pictures
/// between passes are deep. Where there is alpha, neighbourhoods are taken of premultiplied colour.
struct PassBuilder {
  private let input: FrameGeometry
  private var geometry: FrameGeometry
  private var steps: [PlannedPass] = []
  /// Whether the latest picture (not the waiting operations' result) is premultiplied.
  private var isPremultiplied: Bool
  /// Whether the latest picture may hold premultiplied colour that exceeds its alpha.
  private var exceedsAlpha = false
  private var waiting: [PointOperation] = []
  private var waitingFilters: [String] = []
  private var analyses: [(filter: String, analysis: any FrameAnalysis)] = []

  init(geometry: FrameGeometry) {
    self.input = geometry
    self.geometry = geometry
    self.isPremultiplied = geometry.alpha == .premultiplied
  }

  mutating func append(_ items: [PlanItem]) {
    for item in items { self.append(item) }
  }

  /// Computes what still waits, and makes the last picture a frame again.
  ///
  /// - Parameter encoding: How results are to be encoded; by default like the frames.
  consuming func finish(as encoding: FrameEncoding? = nil) -> Plan {
    if let encoding, !encoding.matches(self.geometry) {
      self.convert(to: encoding)
    } else {
      self.makeFrame()
    }
    return Plan(
      input: self.input, output: self.geometry, steps: self.steps, analyses: self.analyses)
  }

  /// Computes what still waits, and makes the latest picture a frame's samples.
  private mutating func makeFrame() {
    let wanted = self.geometry.alpha == .premultiplied
    if !self.waiting.isEmpty || self.isPremultiplied != wanted || (wanted && self.exceedsAlpha) {
      self.flush(depth: .eight, premultiplied: wanted)
    } else if let last = self.steps.indices.last {
      self.steps[last].depth = .eight
    }
  }

  private mutating func append(_ item: PlanItem) {
    if let (operation, filters) = item.pointwise {
      if case .matrix(let matrix) = operation, matrix == .identity { return }
      PointOperation.append(operation, to: &self.waiting)
      self.waitingFilters = self.waiting.isEmpty ? [] : self.waitingFilters + filters
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
      case .analysis(let analysis): self.analyses.append((filter, analysis))
      case .matrix, .field, .kernel: break  // pointwise, and so done with
      }
    case .group(let items, let amount, let rect):
      self.append(group: items, amount: amount, rect: rect)
    }
  }

  private mutating func append(_ operation: any NeighborhoodOperation, _ filter: String) {
    let hasAlpha = self.geometry.alpha != .opaque
    self.flush(
      depth: .deep, premultiplied: operation.mixesPixels ? hasAlpha : self.isPremultiplied)
    let description = PassDescription(
      filters: [filter], kind: operation.kind, words: operation.words)
    let pass = operation.makePass(
      PassSetting(description: description, geometry: self.geometry))
    self.geometry = operation.output(for: self.geometry)
    self.emit(pass, inputs: [self.slot], depth: .deep)
    self.exceedsAlpha = !operation.averages
  }

  private mutating func append(_ kernel: any NeighborhoodKernel, _ filter: String) {
    self.flush(depth: .deep, premultiplied: self.geometry.alpha != .opaque)
    let description = PassDescription(
      filters: [filter], kind: .neighborhood,
      words: "a kernel over \(2 * kernel.reach + 1)x\(2 * kernel.reach + 1) pixels")
    let pass = WindowPass(
      description: description, kernel: kernel, color: self.geometry.color)
    self.emit(pass, inputs: [self.slot], depth: .deep)
    self.exceedsAlpha = true
  }

  private mutating func append(
    _ body: @escaping @Sendable (Frame, inout MutableFrame, FrameMoment) throws -> Void,
    _ filter: String
  ) {
    // The function is given, and gives, a frame like any other.
    self.makeFrame()
    let description = PassDescription(
      filters: [filter], kind: .frame, words: "a function of the whole frame")
    let pass = FramePass(description: description, color: self.geometry.color, body: body)
    self.emit(pass, inputs: [self.slot], depth: .eight)
  }

  private mutating func append(group items: [PlanItem], amount: Double, rect: PixelRect?) {
    if !self.waiting.isEmpty {
      self.flush(depth: .deep, premultiplied: self.geometry.alpha != .opaque)
    }
    let saved = (slot: self.slot, isPremultiplied: self.isPremultiplied)
    self.append(items)
    // A pass reads at most one earlier picture.
    if PointOperation.hasBlend(self.waiting) {
      self.flush(depth: .deep, premultiplied: self.geometry.alpha != .opaque)
    }
    self.waiting.append(
      .blend(
        slot: saved.slot, isPremultiplied: saved.isPremultiplied, amount: amount, rect: rect))
  }

  /// The latest picture: 0 is the frame, n the result of pass n - 1.
  private var slot: Int { self.steps.count }

  /// Computes the waiting operations, if any, or converts alpha, if it must be.
  private mutating func flush(depth: SampleDepth, premultiplied: Bool) {
    let limits = self.exceedsAlpha && premultiplied && depth == .eight
    guard !self.waiting.isEmpty || self.isPremultiplied != premultiplied || limits else { return }
    self.exceedsAlpha = false
    let alpha = self.geometry.alpha
    var compiler = StripCompiler(
      size: self.geometry.size, isOpaque: alpha == .opaque, isPremultiplied: self.isPremultiplied)
    let program = compiler.compile(
      self.waiting, premultiplied: premultiplied,
      limited: depth == .eight && alpha == .premultiplied)
    var inputs = [self.slot]
    for case .blend(let slot, _, _, _) in self.waiting { inputs.append(slot) }
    let words =
      self.waiting.isEmpty
      ? limits
        ? "colour limited to alpha"
        : premultiplied ? "colour times alpha" : "colour divided by alpha"
      : PointOperation.words(self.waiting).joined(separator: ", then ")
    let filters = self.waitingFilters.isEmpty ? self.latestFilters : self.waitingFilters
    let description = PassDescription(
      filters: filters, kind: inputs.count > 1 ? .composite : .pointwise,
      words: words + ", in strips")
    let pass =
      depth == .eight && self.latestDepth == .eight && premultiplied == self.isPremultiplied
      ? self.foldedPass(description) : nil
    let strips = StripPass(
      description: description, program: program, color: self.geometry.color)
    self.waiting = []
    self.waitingFilters = []
    self.isPremultiplied = premultiplied
    self.emit(pass ?? strips, inputs: inputs, depth: depth)
  }

  /// Computes what still waits, and makes the latest picture a frame of another encoding.
  private mutating func convert(to encoding: FrameEncoding) {
    let target = FrameGeometry(
      format: encoding.format, size: self.geometry.size, color: encoding.color)
    let conversion = FormatConversion(from: self.geometry, to: target)
    let words = PointOperation.words(self.waiting) + [conversion.words]
    let filters = self.waitingFilters + ["convert"]
    var inputs = [self.slot]
    for case .blend(let slot, _, _, _) in self.waiting { inputs.append(slot) }
    func described(_ words: String) -> PassDescription {
      PassDescription(
        filters: filters, kind: inputs.count > 1 ? .composite : .pointwise, words: words)
    }
    let isFrame =
      self.latestDepth == .eight && self.isPremultiplied == (self.geometry.alpha == .premultiplied)
    let integers =
      isFrame && !self.exceedsAlpha
      ? conversion.integerPass(
        described("folded: " + words.joined(separator: ", ")), self.waiting) : nil
    let pass: any Pass =
      integers
      ?? conversion.stripPass(
        described(words.joined(separator: ", then ") + ", in strips"), self.waiting,
        isPremultiplied: self.isPremultiplied)
    self.geometry = target
    self.emit(pass, inputs: inputs, depth: .eight)
  }

  /// The waiting operations in integers on the frame's own bytes, if they are such.
  private func foldedPass(_ description: PassDescription) -> (any Pass)? {
    let isOpaque = self.geometry.alpha == .opaque
    guard let form = NormalForm(self.waiting, isOpaque: isOpaque) else { return nil }
    let described = PassDescription(
      filters: description.filters, kind: .pointwise,
      words: "folded: " + PointOperation.words(self.waiting).joined(separator: ", "))
    return FoldedPixelsPass(
      description: described, form: form, from: self.geometry, to: self.geometry)
      ?? FoldedPlanesPass(
        description: described, form: form, from: self.geometry, to: self.geometry)
  }

  /// How the latest picture's samples are stored.
  private var latestDepth: SampleDepth { self.steps.last?.depth ?? .eight }

  private mutating func emit(_ pass: any Pass, inputs: [Int], depth: SampleDepth) {
    // Every geometry here was checked: the input's is a frame's, and filters keep within limits.
    guard let layout = try? FrameLayout(aligned: self.geometry.format, size: self.geometry.size)
    else { preconditionFailure("no frame has the geometry \(self.geometry)") }
    self.steps.append(PlannedPass(pass: pass, inputs: inputs, layout: layout, depth: depth))
  }

  /// For passes that only serve others.
  private var latestFilters: [String] { self.steps.last?.pass.description.filters ?? [] }
}

extension PointOperation {
  /// Whether an earlier picture is mixed in.
  static func hasBlend(_ operations: [PointOperation]) -> Bool {
    operations.contains { if case .blend = $0 { true } else { false } }
  }
}
