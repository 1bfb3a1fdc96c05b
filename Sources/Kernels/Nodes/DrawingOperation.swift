/// A drawing on frames that depends on the frame's time and values, and not on its pixels.
package protocol DrawingOperation: Sendable {
  /// The operation in one line, for ``PassDescription/summary``.
  var summary: String { get }
  /// Creates the pass. It reads and writes frames of the setting's geometry.
  func makePass(_ setting: PassSetting) -> any Pass
}
