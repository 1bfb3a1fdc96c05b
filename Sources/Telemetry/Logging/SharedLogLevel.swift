public import Logging
import Synchronization

/// A minimum log level that several loggers share and that can change at run time.
public final class SharedLogLevel: Sendable {
  private let current: Mutex<Logger.Level>

  /// - Parameter level: The initial level.
  public init(_ level: Logger.Level) {
    self.current = Mutex(level)
  }

  /// The level. A change applies from the next entry.
  public var level: Logger.Level {
    get { self.current.withLock(\.self) }
    set { self.current.withLock { $0 = newValue } }
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
    get { self.own ?? self.shared.level }
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
