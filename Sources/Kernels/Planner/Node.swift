/// One elementary step that a filter is made of, in a form that the planner can reason about.
///
/// Colour steps work in the pipeline's ``WorkingSpace`` with straight alpha, unclamped; nothing is
/// rounded between steps.
public struct Node: Sendable {
  package enum Kind: Sendable {
    /// An affine map of colour, the same everywhere.
    case matrix(ColorMatrix)
    /// Colour times a number that depends on the place.
    case field(ScalarField)
    /// Any function of one pixel and its place.
    case kernel(StripKernel)
    /// Any function of one pixel and that of the frame as it came in.
    case source(SourceKernel)
    /// Each pixel from its neighbourhood.
    case neighborhood(any NeighborhoodOperation)
    /// Each pixel from its neighbourhood, by a user's kernel on RGB.
    case window(any NeighborhoodKernel)
    /// A user's function of the whole frame.
    case frame(@Sendable (Frame, inout MutableFrame, FrameMoment) throws -> Void)
    /// Looks, and does nothing.
    case analysis(any FrameAnalysis)
    /// Nodes whose result is mixed with their input: 0 is the input, 1 the result, and beyond.
    indirect case mixed([Node], amount: Double)
  }

  package let kind: Kind
  /// What the node holds in memory beside code and figures, in bytes.
  package let byteCost: Int

  package init(_ kind: Kind, byteCost: Int = 0) {
    self.kind = kind
    self.byteCost = byteCost
  }

  /// An affine map of colour, the same everywhere. Folds with its neighbours.
  public static func matrix(_ matrix: ColorMatrix) -> Node {
    Node(.matrix(matrix))
  }

  /// Multiplies red, green and blue by a number that depends on the place. Folds with matrices.
  public static func field(_ field: ScalarField) -> Node {
    Node(.field(field))
  }

  /// A function of each colour channel by itself.
  package static func curve(_ curve: ToneCurve) -> Node {
    Node(.kernel(curve.kernel))
  }

  /// Any function of one pixel and its place. Fuses with its neighbours.
  public static func colorKernel(_ kernel: some ColorKernel) -> Node {
    Node(
      .kernel(
        StripKernel(
          reference: { pixel, x, y, moment in
            let result = kernel(
              Pixel(
                red: Float(pixel.x), green: Float(pixel.y), blue: Float(pixel.z),
                alpha: Float(pixel.w)),
              at: Place(x: x, y: y, frame: moment.index))
            return SIMD4(
              Double(result.red), Double(result.green), Double(result.blue),
              Double(result.alpha))
          },
          apply: { strip in kernel.apply(to: ColorStrip(strip)) })))
  }

  /// Any function of a pixel's neighbourhood.
  ///
  /// - Precondition: The kernel's reach lies in 0 ... 64.
  public static func neighborhoodKernel(_ kernel: some NeighborhoodKernel) -> Node {
    precondition((0 ... 64).contains(kernel.reach), "a kernel's reach is 0 ... 64")
    return Node(.window(kernel))
  }

  /// Any function of the whole frame: it reads one and writes every sample of the other, which has
  /// the same geometry and comes as zeros.
  public static func frame(
    _ body: @escaping @Sendable (Frame, inout MutableFrame, FrameMoment) throws -> Void
  ) -> Node {
    Node(.frame(body))
  }

  /// Something that only looks. It sees the frame as it came in, beside the frame's path.
  public static func analysis(_ analysis: some FrameAnalysis) -> Node {
    Node(.analysis(analysis))
  }

  /// A Gaussian of the given standard deviation in pixels; edges are clamped. Below 0.16 it changes
  /// nothing.
  public static func gaussianBlur(sigma: Double) -> Node {
    Node(.neighborhood(GaussianBlurOperation(sigma: sigma)))
  }

  /// Squares of the mean colour, on a grid through a point.
  ///
  /// - Parameters:
  ///   - center: A corner that four squares share, in pixels from the top left.
  ///   - scale: A square's side in pixels; at 1 or less nothing changes.
  package static func pixellate(center: (x: Double, y: Double), scale: Double) -> Node {
    Node(.neighborhood(PixellateOperation(x: center.x, y: center.y, scale: scale)))
  }

  /// The result of nodes, mixed with their input: input + (result - input) * amount.
  ///
  /// - Parameter amount: 0 is the input and 1 the result; beyond them the difference is exaggerated,
  ///   which is how sharpening is made from a blur.
  public static func mixed(_ nodes: [Node], amount: Double) -> Node {
    Node(.mixed(nodes, amount: amount))
  }
}

extension Node {
  /// What the node does to an opaque picture, whose alpha is 1 and stays: before matrices fold, or
  /// one would see the alpha that another made.
  var keepingOpaque: Node {
    switch self.kind {
    case .matrix(let matrix): .matrix(matrix.opaque)
    case .mixed(let nodes, let amount): .mixed(nodes.map(\.keepingOpaque), amount: amount)
    case .field, .kernel, .source, .neighborhood, .window, .frame, .analysis: self
    }
  }
}

extension Node {
  /// A rectangle of the frame, resampled to a size: linear where it grows, the mean of what a pixel
  /// covers where it shrinks. The frames that come out have that size.
  ///
  /// - Parameters:
  ///   - origin: The left top corner, in pixels.
  ///   - extent: What is taken, in pixels; beyond the frame lies what is at its edge.
  ///   - size: The size of what comes out, 1 ... ``FrameLayout/maxDimension`` each way.
  package static func resample(
    from origin: (x: Double, y: Double), extent: (width: Double, height: Double), to size: FrameSize
  ) -> Node {
    Node(.neighborhood(ResampleOperation(origin: origin, extent: extent, size: size)))
  }

  /// The pixels turned and mirrored; what comes out is shown as it is stored.
  package static func orient(_ orientation: Orientation) -> Node {
    Node(.neighborhood(OrientOperation(orientation: orientation)))
  }
}
