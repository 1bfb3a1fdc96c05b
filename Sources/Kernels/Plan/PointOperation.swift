/// A step that makes each pixel from itself and its place, before it is known how.
package indirect enum PointOperation: Sendable {
  case matrix(ColorMatrix)
  case field(ScalarField)
  case kernel(StripKernel)
  /// From the other working space into this one.
  case transfer(to: WorkingSpace)
  /// A function of the pixel and that of the frame as it came in, which is a picture of its own.
  case source(SourceKernel, slot: Int, isPremultiplied: Bool)
  /// Operations whose result is mixed with their input, within a rectangle.
  case group([PointOperation], amount: Double, rect: PixelRect?)
  /// Mixes with an earlier picture: earlier + (this - earlier) * amount; the earlier one alone
  /// outside the rectangle.
  case blend(slot: Int, isPremultiplied: Bool, amount: Double, rect: PixelRect?)

  /// Appends an operation, folding matrices; the way into a space and out of it is nothing.
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

  /// What the operations are, in words.
  package static func words(_ operations: [PointOperation]) -> [String] {
    operations.map { operation in
      switch operation {
      case .matrix: "one colour matrix"
      case .field: "a field"
      case .kernel: "a colour kernel"
      case .transfer(.sRGBLinear): "decoded to linear light"
      case .transfer(.sRGBGamma): "encoded from linear light"
      case .source: "composited with the frame as it came in"
      case .group(let inner, let amount, let rect):
        "(" + Self.words(inner).joined(separator: ", ") + ") mixed in by \(amount)"
          + (rect == nil ? "" : " within a rectangle")
      case .blend(_, _, let amount, let rect):
        "mixed with the earlier picture by \(amount)" + (rect == nil ? "" : " within a rectangle")
      }
    }
  }
}
