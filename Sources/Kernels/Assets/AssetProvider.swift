/// Where a catalogue finds the assets that pipelines name.
///
/// Asked while a pipeline is resolved, never while a frame is computed. May be asked on any thread,
/// several at a time, and must answer at once: what is to be fetched or decoded is fetched and
/// decoded before.
public protocol AssetProvider: Sendable {
  /// The asset of that name; `nil` if there is none.
  func asset(named name: String) -> Asset?

  /// The names that there are, for messages that suggest the nearest one. May be empty.
  var names: [String] { get }
}
