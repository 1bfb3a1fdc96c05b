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
