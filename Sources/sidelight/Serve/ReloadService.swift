import Logging
import Metrics
import ServiceLifecycle
import SidelightConfiguration
import UnixSignals

/// Reloads the settings on SIGHUP. Applies all reloadable changes, or leaves the settings unchanged
/// on an error.
struct ReloadService: Service, CustomStringConvertible {
  /// The help texts of metrics, by name.
  static let metricDescriptions = [
    Self.counter: "Reloads of the settings, by outcome."
  ]
  private static let counter = "sidelight_configuration_reloads_total"

  /// The name of the service, for logs. The default would contain the settings.
  let description = "ReloadService"
  private let settings: Settings
  private let read: @Sendable () throws -> Settings
  private let onReload: @Sendable (ServeConfiguration) async throws -> Void
  private let signals: UnixSignalsSequence
  private let applied: Counter
  private let refused: Counter
  private let logger: Logger

  /// Traps SIGHUP from here on. The signal then never ends a server that announced its addresses.
  ///
  /// - Parameters:
  ///   - settings: The settings at the start of the server.
  ///   - read: Reads the settings from all sources.
  ///   - metrics: The metrics that count reloads.
  ///   - onReload: Applies the new configuration. Called even if no setting changed, since files
  ///     that settings name may have changed. If it throws, it must not have applied any changes.
  init(
    settings: Settings, read: @escaping @Sendable () throws -> Settings,
    metrics: any MetricsFactory, logger: Logger,
    onReload: @escaping @Sendable (ServeConfiguration) async throws -> Void
  ) async {
    self.settings = settings
    self.read = read
    self.onReload = onReload
    self.signals = await UnixSignalsSequence(trapping: .sighup)
    self.applied = Counter(
      label: Self.counter, dimensions: [("outcome", "applied")], factory: metrics)
    self.refused = Counter(
      label: Self.counter, dimensions: [("outcome", "refused")], factory: metrics)
    self.logger = logger
  }

  func run() async throws {
    self.applied.increment(by: 0)
    self.refused.increment(by: 0)
    var settings = self.settings
    for await _ in self.signals.cancelOnGracefulShutdown() {
      do {
        settings = try await self.reload(settings)
      } catch {
        self.refused.increment()
        let errors = (error as? SettingErrors)?.all.map(\.description) ?? ["\(error)"]
        for error in errors {
          self.logger.error("settings not reloaded", metadata: ["fault": "\(error)"])
        }
      }
    }
  }

  /// Applies the current settings of all sources, and returns the ones that apply from now on.
  private func reload(_ settings: Settings) async throws -> Settings {
    let newer = try self.read()
    newer.logWarnings(to: self.logger)
    let reload = settings.reloading(newer)
    try await self.onReload(reload.settings.configuration)
    for setting in reload.awaitingRestart {
      self.logger.warning(
        "setting requires a restart",
        metadata: [
          "setting": "\(setting.key)", "origin": "\(newer.origin(of: setting))",
          "stays": "\(settings.displayText(of: setting))",
          "wanted": "\(newer.displayText(of: setting))",
        ])
    }
    // Incremented before the log entry: a reader of the log finds the reload counted.
    self.applied.increment()
    let changed = reload.applied.map { "\($0.key)=\(reload.settings.displayText(of: $0))" }
    self.logger.notice("settings reloaded", metadata: ["changed": .array(changed.map { "\($0)" })])
    return reload.settings
  }
}

extension Settings {
  /// Logs the warnings of the sources.
  func logWarnings(to logger: Logger) {
    for warning in self.warnings {
      logger.warning("setting has a new name", metadata: ["setting": "\(warning)"])
    }
  }
}
