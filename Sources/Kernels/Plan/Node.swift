/// One elementary step that a filter is made of, in a form that the planner can reason about.
///
/// Colour steps work on gamma-encoded sRGB with straight alpha, unclamped; nothing is rounded
/// between steps.
public struct Node: Sendable {
  package enum Kind: Sendable {
    /// An affine map of colour, the same everywhere.
    case matrix(ColorMatrix)
    /// Colour times a number that depends on the place.
    case field(ScalarField)
    /// Any function of one pixel and its place.
    case kernel(StripKernel)
    /// Each pixel from its neighbourhood.
    case neighborhood(any NeighborhoodOperation)
    /// Nodes whose result is mixed with their input: 0 is the input, 1 the result, and beyond.
    indirect case mixed([Node], amount: Double)
  }

  package let kind: Kind

  package init(_ kind: Kind) {
    self.kind = kind
  }

  /// An affine map of colour, the same everywhere. Folds with its neighbours.
  public static func matrix(_ matrix: ColorMatrix) -> Node {
    Node(.matrix(matrix))
  }

  /// Multiplies red, green and blue by a number that depends on the place. Folds with matrices.
  public static func field(_ field: ScalarField) -> Node {
    Node(.field(field))
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
