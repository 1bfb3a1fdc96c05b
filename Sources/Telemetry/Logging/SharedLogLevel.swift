public import Logging
import Synchronization

/// A minimum log level that several loggers share and that can change at run time.
public final class SharedLogLevel: Sendable {
  /// Another level for some entries, or for all.
  private struct Override {
    /// An element of the metadata of the entries' loggers; `nil` for all entries.
    var element: (key: String, value: String)?
    var level: Logger.Level
    var end: ContinuousClock.Instant
  }

  private static let maxOverrides = 64

  private let state: Mutex<(level: Logger.Level, overrides: [Override])>

  /// - Parameter level: The initial level.
  public init(_ level: Logger.Level) {
    self.state = Mutex((level, []))
  }

  /// The level. A change applies from the next entry.
  public var level: Logger.Level {
    get { self.state.withLock(\.level) }
    set { self.state.withLock { $0.level = newValue } }
  }

  /// Sets the level of some entries for a time. A newer level for the same entries replaces it, and
  /// the oldest of more than 64 ends.
  ///
  /// - Parameters:
  ///   - key: The key of an element of the loggers' metadata; `nil` for all entries.
  ///   - value: The element's value.
  public func set(
    _ level: Logger.Level, where key: String?, is value: String, for duration: Duration
  ) {
    let override = Override(
      element: key.map { ($0, value) }, level: level, end: .now + duration)
    self.state.withLock { state in
      state.overrides.removeAll { $0.element?.key == key && $0.element?.value ?? "" == value }
      state.overrides = state.overrides.suffix(Self.maxOverrides - 1) + [override]
    }
  }

  /// Returns the level of entries of a logger: the newest one that was set for them, or for all.
  func level(for metadata: @autoclosure () -> Logger.Metadata) -> Logger.Level {
    self.state.withLock { state in
      guard !state.overrides.isEmpty else { return state.level }
      let now = ContinuousClock.now
      state.overrides.removeAll { $0.end <= now }
      let metadata = metadata()
      let override = state.overrides.last { override in
        override.element.map { metadata[$0.key] == .string($0.value) } ?? true
      }
      return override?.level ?? state.level
    }
  }
}

/// A log handler whose level is a ``SharedLogLevel``, unless a logger sets its own.
public struct SharedLevelLogHandler<Base: LogHandler>: LogHandler {
  private var base: Base
  private var own: Logger.Level?
  private let shared: SharedLogLevel

  /// - Parameters:
  ///   - base: The handler that writes the entries.
  ///   - level: The shared minimum level.
  public init(_ base: Base, level: SharedLogLevel) {
    self.base = base
    self.shared = level
  }

  /// The minimum level of entries.
  public var logLevel: Logger.Level {
    get { self.own ?? self.shared.level(for: self.base.metadata) }
    set { self.own = newValue }
  }

  /// The metadata of all entries.
  public var metadata: Logger.Metadata {
    get { self.base.metadata }
    set { self.base.metadata = newValue }
  }

  /// The provider of additional metadata for all entries.
  public var metadataProvider: Logger.MetadataProvider? {
    get { self.base.metadataProvider }
    set { self.base.metadataProvider = newValue }
  }

  /// An element of ``metadata``.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { self.base[metadataKey: key] }
    set { self.base[metadataKey: key] = newValue }
  }

  /// Writes an entry.
  public func log(event: LogEvent) { self.base.log(event: event) }
}
