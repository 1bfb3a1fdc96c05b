/// An operation that computes pixels from their neighbourhoods, independent of the format of
/// pictures.
///
/// It works plane by plane: on premultiplied colour in pictures with alpha, and directly on luma
/// and chroma in YUV formats.
package protocol NeighborhoodOperation: Sendable {
  /// The operation in one line, for ``PassDescription/summary``.
  var summary: String { get }
  /// The kind of work.
  var kind: PassDescription.Kind { get }
  /// Whether a pixel depends on several pixels, which requires premultiplied colour.
  var mixesPixels: Bool { get }
  /// Whether samples are means of others, which keeps premultiplied colour within its alpha. The
  /// planner limits the colour of premultiplied frames to alpha after operations that do not
  /// average.
  var averages: Bool { get }
  /// Whether colour may exceed its alpha, and the pass itself limits it to alpha if its output is a
  /// frame.
  var limitsLast: Bool { get }
  /// Returns the maximum distance, in pixels, from which a pixel gets content, if the operation
  /// takes it equally from opposite sides, as blurs do; `nil` if it may move content to one side,
  /// or from any distance. `nil` by default.
  func spread(in geometry: FrameGeometry) -> Double?
  /// Returns the output's geometry for the input's geometry.
  func output(for geometry: FrameGeometry) -> FrameGeometry
  /// Creates the pass for pictures of the setting's geometry.
  func makePass(_ setting: PassSetting) -> any Pass
}

extension NeighborhoodOperation {
  package var kind: PassDescription.Kind { .neighborhood }
  package var mixesPixels: Bool { true }
  package var averages: Bool { true }
  package var limitsLast: Bool { false }
  package func spread(in geometry: FrameGeometry) -> Double? { nil }
  package func output(for geometry: FrameGeometry) -> FrameGeometry { geometry }
}

/// A pass of a neighbourhood operation.
package protocol OperationPass: Pass {
  /// The pictures that the pass works on.
  var setting: PassSetting { get }
}

extension OperationPass {
  package var description: PassDescription { self.setting.description }
}

/// The pictures that a neighbourhood operation's pass works on.
package struct PassSetting: Sendable {
  package let description: PassDescription
  /// The geometry of the input.
  package let geometry: FrameGeometry
  /// The distance, in pixels, to which earlier passes may have spread the frame's contents; `nil`
  /// if they may have moved it anywhere.
  package var spread: Double? = 0
  /// Whether the colour of pictures with alpha is premultiplied. An operation that mixes pixels gets
  /// no others.
  package var isPremultiplied = true
  /// Whether the fourth channel is not alpha and is passed through unchanged.
  package var keepsFourthChannel: Bool {
    self.geometry.format.hasAlpha && self.geometry.color.alpha == .opaque
  }
}

/// A drawing on frames that depends on the frame's time and values, and not on its pixels.
package protocol DrawingOperation: Sendable {
  /// The operation in one line, for ``PassDescription/summary``.
  var summary: String { get }
  /// Creates the pass. It reads and writes frames of the setting's geometry.
  func makePass(_ setting: PassSetting) -> any Pass
}
