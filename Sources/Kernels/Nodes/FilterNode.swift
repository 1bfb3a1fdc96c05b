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
