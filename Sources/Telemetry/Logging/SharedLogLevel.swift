public import Logging
import Synchronization

/// A least level that many loggers share, and that can be changed while they log.
public final class SharedLogLevel: Sendable {
  private let current: Mutex<Logger.Level>

  /// - Parameter level: Where it begins.
  public init(_ level: Logger.Level) {
    self.current = Mutex(level)
  }

  /// The level; a change counts for the next line.
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
  ///   - base: Writes the lines.
  ///   - level: Which are written.
  public init(_ base: Base, level: SharedLogLevel) {
    self.base = base
    self.shared = level
  }

  /// The least level that is written.
  public var logLevel: Logger.Level {
    get { self.own ?? self.shared.level }
    set { self.own = newValue }
  }

  /// What each line says beside its message.
  public var metadata: Logger.Metadata {
    get { self.base.metadata }
    set { self.base.metadata = newValue }
  }

  /// Adds metadata to each line when it is logged.
  public var metadataProvider: Logger.MetadataProvider? {
    get { self.base.metadataProvider }
    set { self.base.metadataProvider = newValue }
  }

  /// A part of ``metadata``.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { self.base[metadataKey: key] }
    set { self.base[metadataKey: key] = newValue }
  }

  /// Writes a line.
  public func log(event: LogEvent) { self.base.log(event: event) }
}
