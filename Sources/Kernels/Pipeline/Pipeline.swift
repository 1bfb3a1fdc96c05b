import CKernels

/// Stages in order, as a caller requests them. A pipeline is not checked against a catalogue;
/// ``FilterCatalogue/resolve(_:)`` does that.
public struct Pipeline: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// The stages, first to last. A pipeline without stages returns every frame unchanged.
  public var stages: [Stage]
  /// The working space, in which colour is computed. `nil` inherits the enclosing pipeline's space,
  /// and means gamma-encoded sRGB for the outermost pipeline. A nested pipeline without a working
  /// space therefore equals its stages. A pipeline with another space converts colour before its
  /// first stage and after its last; the mix and region of the stage that holds it are applied in
  /// the outer space.
  public var workingSpace: WorkingSpace?

  /// Creates a pipeline of stages in the inherited working space.
  public init(stages: [Stage] = []) {
    self.init(stages: stages, workingSpace: nil)
  }

  /// Creates a pipeline of stages in a working space.
  public init(stages: [Stage] = [], workingSpace: WorkingSpace?) {
    self.stages = stages
    self.workingSpace = workingSpace
  }

  /// Creates a pipeline of stages: `[.filter("sepiaTone"), .filter("vignette")]`.
  public init(arrayLiteral stages: Stage...) {
    self.stages = stages
  }

  /// The number of stages, including nested stages and the stages that hold them.
  package var stageCount: Int {
    self.stages.reduce(0) { count, stage in
      guard case .pipeline(let nested) = stage.content else { return count + 1 }
      return count + 1 + nested.stageCount
    }
  }

  /// The maximum number of stages of a pipeline, nested ones included.
  public static let maxStages = 64
  /// The deepest nesting of pipelines.
  public static let maxDepth = 8
  /// The maximum length of a stage's id in bytes.
  public static let maxStageIDBytes = 64
  /// The maximum length of a filter's or a parameter's name in bytes.
  public static let maxNameBytes = 64
  /// The maximum length of a text value in bytes.
  public static let maxTextBytes = 1024
  /// The maximum length of a vector.
  public static let maxVectorValues = 1024
  /// The maximum number of parameters of a filter call.
  public static let maxParameters = 64
}

extension Pipeline {
  /// Activates or pauses a stage.
  ///
  /// - Parameters:
  ///   - isActive: Whether the stage is active.
  ///   - name: The stage's id, or its path: `stages[1]`, `stages[1].pipeline.stages[0]`.
  /// - Throws: ``PipelineError`` with code `unknownStage`, and the nearest id.
  public mutating func setActive(_ isActive: Bool, stage name: String) throws(PipelineError) {
    try self.edit(name) { $0.isActive = isActive }
  }

  /// Changes parameters of a stage; other parameters keep their values. Resolving the pipeline
  /// checks that the filter has them.
  ///
  /// - Parameters:
  ///   - parameters: Values by parameter name, in either spelling.
  ///   - name: The stage's id or path, as in ``setActive(_:stage:)``.
  /// - Throws: ``PipelineError`` with code `unknownStage`, and the nearest id; with code
  ///   `invalidStage` if the stage is a pipeline, which doesn't have parameters; or with code
  ///   `tooLarge` for more than ``maxParameters`` values.
  public mutating func setParameters(
    _ parameters: [String: ParameterValue], stage name: String
  ) throws(PipelineError) {
    guard parameters.count <= Self.maxParameters else {
      throw PipelineError(
        code: .tooLarge, path: "parameters",
        message: "has \(parameters.count) entries; the limit is \(Self.maxParameters)",
        value: "\(parameters.count)", limit: "\(Self.maxParameters)")
    }
    var isFilter = true
    try self.edit(name) { stage in
      guard case .filter(var call) = stage.content else {
        isFilter = false
        return
      }
      for (parameter, value) in parameters {
        let canonical = Spelling.canonicalParameter(parameter)
        for known in call.parameters.keys where Spelling.canonicalParameter(known) == canonical {
          call.parameters[known] = nil
        }
        call.parameters[parameter] = value
      }
      stage.content = .filter(call)
    }
    guard isFilter else {
      throw PipelineError(
        code: .invalidStage, path: "stage",
        message: "\"\(name.clipped(toBytes: 64))\" is a pipeline, not a filter")
    }
  }

  private mutating func edit(
    _ name: String, _ body: (inout Stage) -> Void
  ) throws(PipelineError) {
    guard Self.edit(&self.stages, name, path: "", body) else {
      throw PipelineError(
        code: .unknownStage, path: "stage",
        message: "no stage is \"\(name.clipped(toBytes: 64))\"",
        suggestion: Spelling.nearest(to: name, among: Self.ids(of: self.stages)), value: name)
    }
  }

  /// Applies `body` to the stage of that id or path.
  ///
  /// - Returns: Whether the stage was found.
  private static func edit(
    _ stages: inout [Stage], _ name: String, path: String, _ body: (inout Stage) -> Void
  ) -> Bool {
    for index in stages.indices {
      let stagePath = "\(path)stages[\(index)]"
      if stages[index].id == name || stagePath == name {
        body(&stages[index])
        return true
      }
      if case .pipeline(var inner) = stages[index].content,
        Self.edit(&inner.stages, name, path: "\(stagePath).pipeline.", body)
      {
        stages[index].content = .pipeline(inner)
        return true
      }
    }
    return false
  }

  private static func ids(of stages: [Stage]) -> [String] {
    stages.flatMap { stage in
      let inner: [String] =
        if case .pipeline(let pipeline) = stage.content { Self.ids(of: pipeline.stages) } else {
          []
        }
      return (stage.id.map { [$0] } ?? []) + inner
    }
  }
}

extension Pipeline {
  /// Checks the sizes of all names, texts and lists in the pipeline.
  /// ``FilterCatalogue/resolve(_:)`` calls it first.
  ///
  /// - Throws: ``PipelineError`` with code `tooLarge`, the path of the first violation, and the
  ///   limit.
  public func checkSizes() throws(PipelineError) {
    try self.checkSizes(path: "", depth: 1)
  }

  /// Checks the sizes of a nested pipeline.
  ///
  /// - Parameter path: The pipeline's path, with a trailing dot unless empty.
  private func checkSizes(path: String, depth: Int) throws(PipelineError) {
    for (index, stage) in self.stages.enumerated() {
      let path = "\(path)stages[\(index)]"
      if let id = stage.id { try Self.check(id, atMost: Self.maxStageIDBytes, path: "\(path).id") }
      switch stage.content {
      case .filter(let call): try Self.check(call, path: "\(path).filter")
      case .pipeline(let inner):
        // Resolving rejects deeper pipelines.
        guard depth < Self.maxDepth else { continue }
        try inner.checkSizes(path: "\(path).pipeline.", depth: depth + 1)
      }
    }
  }

  private static func check(_ call: FilterCall, path: String) throws(PipelineError) {
    try Self.check(call.name, atMost: Self.maxNameBytes, path: "\(path).name")
    guard call.parameters.count <= Self.maxParameters else {
      throw PipelineError(
        code: .tooLarge, path: "\(path).parameters",
        message: "has \(call.parameters.count) entries; the limit is \(Self.maxParameters)",
        value: "\(call.parameters.count)", limit: "\(Self.maxParameters)")
    }
    for (name, value) in call.parameters.sorted(by: { $0.key < $1.key }) {
      let path = "\(path).parameters[\"\(name.clipped(toBytes: 64))\"]"
      guard name.utf8.count <= Self.maxNameBytes else {
        throw PipelineError(
          code: .tooLarge, path: path,
          message: "the parameter's name has \(name.utf8.count) bytes; the limit is "
            + "\(Self.maxNameBytes)",
          value: "\(name.utf8.count)", limit: "\(Self.maxNameBytes)")
      }
      switch value {
      case .text(let text): try Self.check(text, atMost: Self.maxTextBytes, path: path)
      case .vector(let numbers) where numbers.count > Self.maxVectorValues:
        throw PipelineError(
          code: .tooLarge, path: path,
          message: "has \(numbers.count) numbers; the limit is \(Self.maxVectorValues)",
          value: "\(numbers.count)", limit: "\(Self.maxVectorValues)")
      case .number, .length, .point, .color, .vector, .flag: break
      }
    }
  }

  private static func check(
    _ text: String, atMost limit: Int, path: String
  ) throws(PipelineError) {
    guard text.utf8.count <= limit else {
      throw PipelineError(
        code: .tooLarge, path: path,
        message: "has \(text.utf8.count) bytes; the limit is \(limit)",
        value: "\(text.utf8.count)", limit: "\(limit)")
    }
  }
}

/// The space in which filters compute colour.
///
/// Filters compute with colour of the working space: 0.5 is half of the light in linear sRGB, and
/// about a fifth of it in gamma-encoded sRGB. Pictures that filters bring in are converted; numbers
/// and lookup tables of filters are not.
public enum WorkingSpace: String, Sendable, Hashable, CaseIterable {
  /// Gamma-encoded sRGB, as stored in frames.
  case sRGBGamma
  /// Linear light: decoded before the first stage and encoded after the last, by using the transfer
  /// function of IEC 61966-2-1, extended as an odd function to negative values. Values are not
  /// clamped.
  case sRGBLinear
}

extension WorkingSpace {
  /// The format of pictures in this space between passes, for frames of a format.
  ///
  /// In linear light every pixel has its own colour. Subsampled chroma is a mean of gamma-encoded
  /// colours; as a mean of linear colours it would give every pixel of a block the same share of
  /// colour at any brightness, and comb artefacts where it is encoded again.
  package func format(for frame: PixelFormat) -> PixelFormat {
    self == .sRGBLinear && frame.isYUV ? .rgb24 : frame
  }

  /// The function that converts colour from the other space into this one.
  package var inputCurve: ToneCurve { self == .sRGBLinear ? .linearized : .encoded }
}

/// A function per colour channel, computed by using a C row.
package enum ToneCurve: Sendable, Hashable {
  /// |x|^exponent with the sign of x.
  case power(Double)
  /// From gamma-encoded to linear sRGB (IEC 61966-2-1), extended as an odd function.
  case linearized
  /// From linear to gamma-encoded sRGB, the inverse of ``linearized``.
  case encoded

  /// The definition of the curve.
  package func callAsFunction(_ x: Double) -> Double {
    let magnitude = abs(x)
    let result =
      switch self {
      case .power(let exponent): magnitude > 0 ? pow(magnitude, exponent) : 0
      case .linearized:
        magnitude <= 0.04045 ? magnitude / 12.92 : pow((magnitude + 0.055) / 1.055, 2.4)
      case .encoded:
        magnitude <= 0.0031308 ? magnitude * 12.92 : 1.055 * pow(magnitude, 1 / 2.4) - 0.055
      }
    return x < 0 ? -result : result
  }
}
