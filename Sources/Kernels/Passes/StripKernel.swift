/// Any function of pixels and their places, applied to a strip in place: straight colour, 0 ... 1,
/// unclamped.
package final class StripKernel: Sendable {
  /// The function. Called for each strip, on compute threads, several at a time.
  package let apply: @Sendable (Strip) -> Void

  /// What is meant, for one pixel.
  package let reference:
    @Sendable (_ pixel: SIMD4<Double>, _ x: Int, _ y: Int, FrameMoment) -> SIMD4<Double>

  package init(
    reference:
      @escaping @Sendable (_ pixel: SIMD4<Double>, _ x: Int, _ y: Int, FrameMoment) ->
      SIMD4<Double>,
    apply: @escaping @Sendable (Strip) -> Void
  ) {
    self.reference = reference
    self.apply = apply
  }
}
