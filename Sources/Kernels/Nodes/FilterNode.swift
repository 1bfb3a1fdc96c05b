/// One elementary step of a filter, in a form that the planner can fold and fuse.
///
/// Colour steps work in the pipeline's ``WorkingSpace`` with straight alpha. Values are not clamped
/// or rounded between steps.
public struct FilterNode: Sendable {
  package enum Kind: Sendable {
    /// An affine map of colour, the same at every pixel.
    case matrix(ColorMatrix)
    /// Colour times a number that depends on the position.
    case field(ScalarField)
    /// A function of one pixel and its position.
    case kernel(StripKernel)
    /// A function of one pixel and of the pixel of the source frame, as it was before the first
    /// stage.
    case source(SourceKernel)
    /// A function of pixels' neighbourhoods.
    case neighborhood(any NeighborhoodOperation)
    /// A custom function of pixels' neighbourhoods, on RGB.
    case window(any NeighborhoodKernel)
    /// A custom function of the whole frame.
    case frame(@Sendable (Frame, inout MutableFrame, FrameTime) throws -> Void)
    /// An operation that depends on the frame's contents.
    case scene(any SceneOperation)
    /// A drawing on the frame.
    case drawing(any DrawingOperation)
    /// An analysis, which does not change the frame.
    case analysis(any FrameAnalysis)
    /// Nodes with a result that is mixed with their input: 0 is the input, 1 the result; amounts
    /// beyond extrapolate.
    indirect case mixed([FilterNode], amount: Double)
  }

  package let kind: Kind
  /// The memory of the node's tables and images, in bytes.
  package let byteCost: Int

  package init(_ kind: Kind, byteCost: Int = 0) {
    self.kind = kind
    self.byteCost = byteCost
  }

  /// An affine map of colour, the same at every pixel. Folds with its neighbours.
  public static func matrix(_ matrix: ColorMatrix) -> FilterNode {
    FilterNode(.matrix(matrix))
  }

  /// A factor of red, green and blue that depends on the position. Folds with matrices.
  public static func field(_ field: ScalarField) -> FilterNode {
    FilterNode(.field(field))
  }

  /// A custom function of the whole frame: it reads a frame and writes the samples of another,
  /// which has the same geometry and is initialised to zeros.
  public static func frame(
    _ body: @escaping @Sendable (Frame, inout MutableFrame, FrameTime) throws -> Void
  ) -> FilterNode {
    FilterNode(.frame(body))
  }

  /// An operation that depends on the frame's contents.
  package static func scene(_ operation: some SceneOperation) -> FilterNode {
    FilterNode(.scene(operation))
  }

  /// An analysis. It reads the frame before the first stage, off the frame's path.
  public static func analysis(_ analysis: some FrameAnalysis) -> FilterNode {
    FilterNode(.analysis(analysis))
  }

  /// Mixes the result of nodes with their input: input + (result - input) * amount.
  ///
  /// - Parameters:
  ///   - nodes: The nodes, first to last.
  ///   - amount: 0 is the input and 1 the result. Amounts beyond them amplify the difference; a
  ///     negative amount of a blur sharpens.
  public static func mixed(_ nodes: [FilterNode], amount: Double) -> FilterNode {
    FilterNode(.mixed(nodes, amount: amount))
  }
}

extension FilterNode {
  /// Whether the node is an identity matrix.
  var isIdentity: Bool {
    guard case .matrix(let matrix) = self.kind else { return false }
    return matrix == .identity
  }

  /// The node for an opaque picture, which keeps its alpha of 1. It is applied before matrices are
  /// folded, because a folded matrix would read an alpha that another one wrote.
  var keepingOpaque: FilterNode {
    switch self.kind {
    case .matrix(let matrix): .matrix(matrix.opaque)
    case .mixed(let nodes, let amount): .mixed(nodes.map(\.keepingOpaque), amount: amount)
    case .field, .kernel, .source, .neighborhood, .window, .frame, .scene, .drawing, .analysis: self
    }
  }
}

/// A step that computes pixels from themselves and their position, before it is lowered to a pass.
package indirect enum PointOperation: Sendable {
  case matrix(ColorMatrix)
  case field(ScalarField)
  case kernel(StripKernel)
  /// A conversion of colour from the other working space into this one.
  case transfer(to: WorkingSpace)
  /// A scene stage's colour matrix, which depends on the frame.
  case adaptive(any AdaptiveOperation, index: Int)
  /// A function of the pixel and of the source frame's pixel, which is a separate picture.
  case source(SourceKernel, slot: Int, isPremultiplied: Bool)
  /// Operations with a result that is mixed with their input, within a rectangle.
  case group([PointOperation], amount: Double, rect: PixelRect?)
  /// A mix with an earlier picture: earlier + (this - earlier) * amount. Outside the rectangle the
  /// result is the earlier picture.
  case blend(slot: Int, isPremultiplied: Bool, amount: Double, rect: PixelRect?)

  /// Appends an operation. Matrices are folded; opposite conversions of working space cancel out.
  package static func append(_ next: PointOperation, to operations: inout [PointOperation]) {
    if case .transfer(let space) = next, case .transfer(let other) = operations.last,
      space != other
    {
      operations.removeLast()
      return
    }
    guard case .matrix(let matrix) = next else { return operations.append(next) }
    var folded = matrix
    if case .matrix(let previous) = operations.last {
      operations.removeLast()
      folded = previous.followed(by: matrix)
    }
    if folded != .identity { operations.append(.matrix(folded)) }
  }

  package static func summaries(_ operations: [PointOperation]) -> [String] {
    operations.map { operation in
      switch operation {
      case .matrix: "one colour matrix"
      case .field: "a field"
      case .kernel: "a colour kernel"
      case .transfer(.sRGBLinear): "decoded to linear light"
      case .transfer(.sRGBGamma): "encoded from linear light"
      case .adaptive(let operation, _): operation.summary
      case .source: "composited with the source frame"
      case .group(let inner, let amount, let rect):
        "(" + Self.summaries(inner).joined(separator: ", ") + ") mixed in by \(amount)"
          + (rect == nil ? "" : " within a rectangle")
      case .blend(_, _, let amount, let rect):
        "mixed with the earlier picture by \(amount)" + (rect == nil ? "" : " within a rectangle")
      }
    }
  }
}

extension PointOperation {
  /// Whether the operation depends on the frame.
  var isAdaptive: Bool {
    switch self {
    case .adaptive: true
    case .group(let operations, _, _): operations.contains(where: \.isAdaptive)
    case .matrix, .field, .kernel, .transfer, .source, .blend: false
    }
  }

  /// Whether the operation has a field, which takes long to prepare.
  var hasField: Bool {
    switch self {
    case .field: true
    case .group(let operations, _, _): operations.contains(where: \.hasField)
    case .matrix, .kernel, .transfer, .adaptive, .source, .blend: false
    }
  }

  /// Returns operations with the colour matrices of one frame, folded.
  static func resolving(
    _ operations: [PointOperation], _ matrix: (any AdaptiveOperation, _ index: Int) -> ColorMatrix
  ) -> [PointOperation] {
    var resolved: [PointOperation] = []
    for operation in operations {
      switch operation {
      case .adaptive(let adaptive, let index):
        Self.append(.matrix(matrix(adaptive, index)), to: &resolved)
      case .group(let inner, let amount, let rect):
        let inner = Self.resolving(inner, matrix)
        if inner.isEmpty { continue }
        // A mix of one matrix is a matrix.
        if rect == nil, inner.count == 1, case .matrix(let matrix) = inner[0] {
          Self.append(.matrix(matrix.mixed(amount)), to: &resolved)
        } else {
          Self.append(.group(inner, amount: amount, rect: rect), to: &resolved)
        }
      case .matrix, .field, .kernel, .transfer, .source, .blend:
        Self.append(operation, to: &resolved)
      }
    }
    return resolved
  }
}
