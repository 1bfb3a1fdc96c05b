/// The passes that compute pointwise operations on pictures of one geometry.
struct PointwisePasses: Sendable {
  let geometry: FrameGeometry
  /// Whether the input holds premultiplied colour.
  let isPremultiplied: Bool
  /// Whether the output holds premultiplied colour.
  let premultiplied: Bool
  /// Whether colour is limited to alpha at the end.
  let limited: Bool
  /// Whether input and output are bytes of the same format. Chains then fold to integers.
  let areFrames: Bool

  /// Creates a pass: in integers or by using a row of pixels if the operations allow it, otherwise
  /// in strips of floats.
  ///
  /// - Parameters:
  ///   - description: Describes the pass; its summary is replaced if the operations fold.
  ///   - operations: The operations, without matrices that depend on the frame.
  ///   - budget: Counts the memory of fields.
  func pass(
    _ description: PassDescription, _ operations: [PointOperation], budget: PlanBudget
  ) -> any Pass {
    (self.areFrames
      ? self.foldedPass(description, operations, budget)
        ?? self.rowPass(description, operations, budget) : nil)
      ?? self.stripPass(description, operations, budget)
  }

  /// Returns a pass that computes a frame's bytes from bytes; `nil` if the operations do not allow
  /// it.
  private func rowPass(
    _ description: PassDescription, _ operations: [PointOperation], _ budget: PlanBudget
  ) -> (any Pass)? {
    let described = PassDescription(
      filters: description.filters, kind: .pointwise,
      summary: PointOperation.summaries(operations).joined(separator: ", then ")
        + ", on bytes")
    return PixelRowPass(
      description: described, operations, geometry: self.geometry, budget: budget)
  }

  /// Returns a pass that computes the operations in integers on a frame's bytes; `nil` if they do
  /// not allow it.
  private func foldedPass(
    _ description: PassDescription, _ operations: [PointOperation], _ budget: PlanBudget
  ) -> (any Pass)? {
    let isOpaque = self.geometry.alpha == .opaque
    guard let form = NormalForm(operations, isOpaque: isOpaque) else { return nil }
    let described = PassDescription(
      filters: description.filters, kind: .pointwise,
      summary: "folded: " + PointOperation.summaries(operations).joined(separator: ", "))
    return FoldedPixelsPass(
      description: described, form: form, from: self.geometry, to: self.geometry, budget: budget)
      ?? FoldedPlanesPass(
        description: described, form: form, from: self.geometry, to: self.geometry,
        budget: budget)
  }

  /// Creates a pass that computes the operations in strips of floats.
  private func stripPass(
    _ description: PassDescription, _ operations: [PointOperation], _ budget: PlanBudget
  ) -> StripPass {
    var compiler = StripCompiler(
      size: self.geometry.size, isOpaque: self.geometry.alpha == .opaque,
      isPremultiplied: self.isPremultiplied, budget: budget)
    let program = compiler.compile(
      operations, premultiplied: self.premultiplied, limited: self.limited)
    return StripPass(description: description, program: program, color: self.geometry.color)
  }
}
