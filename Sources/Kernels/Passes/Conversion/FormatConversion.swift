import CKernels

/// The conversion of a plan's result to another encoding than the input's.
///
/// The pass includes deferred pointwise operations, and rounds all results once. If the target
/// doesn't have alpha, the picture is composited on black; if only the target has alpha, it is 255;
/// if both ignore alpha, it is passed through. Chroma that 2x2 pixels share is read for all of
/// them, and written as their mean.
struct FormatConversion {
  private let source: FrameGeometry
  private let target: FrameGeometry
  private let budget: PlanBudget

  /// Creates a conversion.
  ///
  /// - Precondition: Both geometries have the same size.
  init(from source: FrameGeometry, to target: FrameGeometry, budget: PlanBudget) {
    self.budget = budget
    self.source = source
    self.target = target
  }

  /// The conversion in one line: `i420 to bgra8`.
  var summary: String { "\(self.source.format.rawValue) to \(self.target.format.rawValue)" }

  /// Returns a pass in integers on the samples.
  ///
  /// - Returns: `nil` if the formats or operations do not allow it;
  ///   ``stripPass(_:_:isPremultiplied:)`` always does.
  func integerPass(
    _ description: PassDescription, _ operations: [PointOperation]
  ) -> (any Pass)? {
    if operations.isEmpty,
      let pass = ChromaRepackPass(description: description, from: self.source, to: self.target)
    {
      return pass
    }
    guard let form = NormalForm(operations, isOpaque: self.source.alpha == .opaque) else {
      return nil
    }
    if let pass = FoldedPixelsPass(
      description: description, form: form, from: self.source, to: self.target,
      budget: self.budget)
    {
      return pass
    }
    if let pass = FoldedPlanesPass(
      description: description, form: form, from: self.source, to: self.target,
      budget: self.budget)
    {
      return pass
    }
    guard form.fields.isEmpty else { return nil }
    return PlanesToPixelsPass(
      description: description, matrix: form.matrix, from: self.source, to: self.target)
      ?? PixelsToPlanesPass(
        description: description, matrix: form.matrix, from: self.source, to: self.target)
  }

  /// Returns a pass in strips of floats, which supports all formats and operations.
  func stripPass(
    _ description: PassDescription, _ operations: [PointOperation], isPremultiplied: Bool
  ) -> StripPass {
    let (before, after) = (self.source.alpha, self.target.alpha)
    var compiler = StripCompiler(
      size: self.source.size, isOpaque: before == .opaque, isPremultiplied: isPremultiplied,
      budget: self.budget)
    let program = compiler.compile(
      operations, premultiplied: before != .opaque && after != .straight,
      limited: after == .premultiplied,
      setsOpaque: (before == .opaque) != (after == .opaque))
    return StripPass(
      description: description, program: program, from: self.source.color, to: self.target.color)
  }
}

/// I420 to NV12 or back where the samples have the same meaning: an exact copy.
final class ChromaRepackPass: Pass {
  let description: PassDescription

  /// Creates the pass.
  ///
  /// - Returns: `nil` for other formats, and if the samples would change.
  init?(description: PassDescription, from source: FrameGeometry, to target: FrameGeometry) {
    let formats = [source.format, target.format]
    guard formats == [.i420, .nv12] || formats == [.nv12, .i420],
      source.color.range == target.color.range, source.color.matrix == target.color.matrix
    else { return nil }
    self.description = description
  }

  func run(_ context: PassContext) async {
    let size = context.output.size
    let source = FoldedChroma(context.inputs[0].view)
    let target = FoldedChroma(context.output.view)
    await context.bands.run(
      rows: size.height, alignment: 2, nanoseconds: Double(size.pixelCount) * 0.05
    ) { band in
      let rows = unsafe sl_rows_current().pointee
      let half = (size.width + 1) / 2
      for y in band {
        unsafe target.luma(y).update(from: source.luma(y), count: size.width)
        guard y.isMultiple(of: 2) else { continue }
        let (input, output) = unsafe (source.rows(y), target.rows(y))
        if target.step == 2 {
          unsafe rows.interleave(input.u, input.v, half, output.u)
        } else {
          unsafe rows.deinterleave(input.u, half, output.u, output.v)
        }
      }
    }
  }
}
