/// Any function of a pixel and the pixel of the frame as it came in, applied to strips in place.
package final class SourceKernel: Sendable {
  /// What is meant, for one pixel: straight, and the frame's premultiplied.
  package typealias Reference =
    @Sendable (_ pixel: SIMD4<Double>, _ source: SIMD4<Double>, _ x: Int, _ y: Int) ->
    SIMD4<Double>
  /// A strip, straight, and the frame's at the same place, premultiplied, which is scratch.
  package typealias Apply = @Sendable (_ strip: Strip, _ source: Strip) -> Void

  /// The space in which the frame's colours are wanted.
  let space: WorkingSpace
  let reference: Reference
  let apply: Apply

  init(space: WorkingSpace, reference: @escaping Reference, apply: @escaping Apply) {
    self.space = space
    self.reference = reference
    self.apply = apply
  }
}
