/// A compiler of pointwise operations to a strip program. It keeps track of alpha.
///
/// On premultiplied colour, an affine map that leaves alpha unchanged is affine with its bias
/// multiplied by alpha. Other operations receive straight colour.
struct StripCompiler {
  private let size: FrameSize
  private let isOpaque: Bool
  private var isPremultiplied: Bool
  private var steps: [StripStep] = []
  private var owned: [any AnyObject & Sendable] = []
  private let budget: PlanBudget

  /// Creates a compiler.
  ///
  /// - Parameters:
  ///   - isOpaque: Whether the format is without alpha, or alpha is ignored.
  ///   - isPremultiplied: Whether strips hold premultiplied colour when they are loaded.
  ///   - budget: Counts the memory of fields. Fields beyond the limit are left out, and the plan is
  ///     refused.
  init(size: FrameSize, isOpaque: Bool, isPremultiplied: Bool, budget: PlanBudget) {
    self.budget = budget
    self.size = size
    self.isOpaque = isOpaque
    self.isPremultiplied = isPremultiplied
  }

  /// Compiles operations.
  ///
  /// - Parameters:
  ///   - premultiplied: Whether the strips hold premultiplied colour at the end.
  ///   - limited: Whether colour is limited to alpha at the end.
  ///   - setsOpaque: Whether alpha is set to 1 at the end, without a change of colour.
  mutating func compile(
    _ operations: [PointOperation], premultiplied: Bool, limited: Bool, setsOpaque: Bool = false
  ) -> StripProgram {
    for operation in operations { self.append(operation) }
    self.convert(toPremultiplied: premultiplied)
    if limited && !self.isOpaque { self.steps.append(.limit) }
    if setsOpaque { self.steps.append(.setOpaque) }
    return StripProgram(steps: self.steps, owned: self.owned)
  }

  private mutating func append(_ operation: PointOperation) {
    switch operation {
    case .matrix(let matrix):
      if self.isOpaque {
        self.steps.append(.matrix(StripMatrix(matrix.opaque)))
      } else if self.isPremultiplied, matrix.keepsAlpha, !matrix.readsAlpha {
        self.steps.append(.matrix(StripMatrix(matrix.premultiplied)))
      } else {
        self.convert(toPremultiplied: false)
        self.steps.append(.matrix(StripMatrix(matrix)))
      }
    case .field(let field):
      guard let planned = self.budget.plan(field, size: self.size) else { return }
      self.owned.append(planned)
      self.steps.append(.field(planned.view))
    case .kernel(let kernel):
      self.append(kernel)
    case .transfer(let space):
      self.append(space.inputCurve.kernel)
    case .adaptive:
      preconditionFailure("a matrix that depends on the frame is resolved for each frame")
    case .source(let kernel, _, let isPremultiplied):
      self.convert(toPremultiplied: false)
      self.owned.append(kernel)
      self.steps.append(
        .source(
          SourceStep(kernel, isPremultiplied: isPremultiplied, isOpaque: self.isOpaque)))
    case .group(let operations, let amount, let rect):
      self.convert(toPremultiplied: false)
      var inner = StripCompiler(
        size: self.size, isOpaque: self.isOpaque, isPremultiplied: false, budget: self.budget)
      let program = inner.compile(operations, premultiplied: false, limited: false)
      self.owned.append(program)
      // Where alpha changes, colours are mixed by alpha, which ignores invisible colours. Where
      // alpha does not change, straight colours give the same result.
      let weighsAlpha = !self.isOpaque && operations.contains { $0.mayChangeAlpha }
      self.steps.append(
        unsafe .group(
          .passUnretained(program), amount: Float(amount), rect: rect, weighsAlpha: weighsAlpha))
    case .blend(_, let isPremultiplied, let amount, let rect):
      self.convert(toPremultiplied: !self.isOpaque)
      self.steps.append(
        .blend(
          amount: Float(amount), rect: rect, premultiplies: !isPremultiplied && !self.isOpaque))
    }
  }

  private mutating func append(_ kernel: StripKernel) {
    self.convert(toPremultiplied: false)
    self.owned.append(kernel)
    self.steps.append(unsafe .kernel(.passUnretained(kernel), isOpaque: self.isOpaque))
  }

  private mutating func convert(toPremultiplied wanted: Bool) {
    guard !self.isOpaque, self.isPremultiplied != wanted else { return }
    self.steps.append(wanted ? .premultiply : .unpremultiply)
    self.isPremultiplied = wanted
  }
}

extension PointOperation {
  /// Whether the operation may change alpha. Kernels, sources and blends count as changing it.
  fileprivate var mayChangeAlpha: Bool {
    switch self {
    case .matrix(let matrix): !matrix.keepsAlpha
    case .field, .transfer, .adaptive: false
    case .kernel, .blend, .source: true
    case .group(let operations, _, _): operations.contains { $0.mayChangeAlpha }
    }
  }
}

extension ColorMatrix {
  /// The map for opaque pictures, which keeps their alpha of 1.
  var opaque: ColorMatrix {
    func row(_ row: SIMD4<Double>) -> SIMD4<Double> { [row.x, row.y, row.z, 0] }
    return ColorMatrix(
      red: row(self.red), green: row(self.green), blue: row(self.blue),
      bias: [
        self.bias.x + self.red.w, self.bias.y + self.green.w, self.bias.z + self.blue.w, 0,
      ])
  }

  /// The map for premultiplied colour: its biases are multiplied by alpha.
  var premultiplied: ColorMatrix {
    func row(_ row: SIMD4<Double>, _ bias: Double) -> SIMD4<Double> {
      [row.x, row.y, row.z, bias]
    }
    return ColorMatrix(
      red: row(self.red, self.bias.x), green: row(self.green, self.bias.y),
      blue: row(self.blue, self.bias.z))
  }
}
