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
  }

  package let kind: Kind

  /// An affine map of colour, the same everywhere. Folds with its neighbours.
  public static func matrix(_ matrix: ColorMatrix) -> Node {
    Node(kind: .matrix(matrix))
  }

  /// Multiplies red, green and blue by a number that depends on the place. Folds with matrices.
  public static func field(_ field: ScalarField) -> Node {
    Node(kind: .field(field))
  }
}
