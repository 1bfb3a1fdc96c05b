import CKernels

/// I420 to NV12 or back where the samples mean the same: copies, exactly.
final class ChromaRepackPass: Pass {
  let description: PassDescription

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
