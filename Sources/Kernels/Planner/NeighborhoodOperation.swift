/// Something that makes each pixel from its neighbourhood, before the planner knows on which
/// pictures.
///
/// It works plane by plane: on premultiplied colour where there is alpha, and directly on luma and
/// chroma where the format has them.
package protocol NeighborhoodOperation: Sendable {
  /// What is done, in words.
  var words: String { get }
  /// The kind of work.
  var kind: PassDescription.Kind { get }
  /// Whether a pixel is made from several, so that colour must be multiplied by alpha before.
  var mixesPixels: Bool { get }
  /// Whether each sample is a mean of others, so that premultiplied colour stays within its alpha.
  /// One that does not limits colour to alpha where it makes a premultiplied frame.
  var averages: Bool { get }
  /// Whether colour may exceed its alpha, and is limited to it by the pass itself where that makes
  /// the frame.
  var limitsLast: Bool { get }
  /// Whether the operation is a weighted sum over pixels, so that chroma which 2x2 pixels share becomes
  /// exactly what it becomes for those pixels: each of them has the sample, and the result is the mean
  /// of theirs. Others work on the smaller plane, whose samples lie in the middle of their pixels.
  var sumsPixels: Bool { get }
  /// The pictures that come out for those that go in.
  func output(for geometry: FrameGeometry) -> FrameGeometry
  /// The pass for pictures as described.
  func makePass(_ setting: PassSetting) -> any Pass
  /// The operation on one plane, as it is defined: naive, in double precision.
  func reference(_ plane: ReferencePlane) -> ReferencePlane
  /// The operation on all planes of a picture, for one that treats them differently; by default
  /// each plane by itself.
  func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane]
}

extension NeighborhoodOperation {
  package var kind: PassDescription.Kind { .neighborhood }
  package var mixesPixels: Bool { true }
  package var averages: Bool { true }
  package var limitsLast: Bool { false }
  package var sumsPixels: Bool { false }
  package func output(for geometry: FrameGeometry) -> FrameGeometry { geometry }
  package func reference(_ plane: ReferencePlane) -> ReferencePlane { plane }
  package func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    planes.map { plane in
      guard self.sumsPixels, plane.scale < 1 else { return self.reference(plane) }
      return self.reference(plane.spread(over: geometry.size)).shared()
    }
  }
}

/// What a neighbourhood operation is told of the pictures that it will work on.
package struct PassSetting: Sendable {
  /// The pass in words.
  package let description: PassDescription
  /// The pictures that go in.
  package let geometry: FrameGeometry
  /// Whether the fourth channel is no alpha, and is to be passed on untouched.
  package var keepsFourthChannel: Bool {
    self.geometry.format.hasAlpha && self.geometry.color.alpha == .opaque
  }
}

// The operations whose passes write by a ``LimitedFinish``.

extension BlurLeanOperation {
  var limitsLast: Bool { true }
}

extension ConvolutionOperation {
  var limitsLast: Bool { true }
}

extension LumaSharpenOperation {
  var limitsLast: Bool { true }
}
