import Logging
import Metrics
import ServiceLifecycle
import SidelightConfiguration
import UnixSignals

/// Reads the settings again at each SIGHUP. All is applied that can be, or, if anything is wrong, nothing.
struct ReloadWatch: Service, CustomStringConvertible {
  /// What the metric means, by name.
  static let metricDescriptions = [
    Self.counter: "Times that settings were read again, by outcome."
  ]
  private static let counter = "sidelight_configuration_reloads_total"

  /// Its name, for logs: what it holds is long, and not for everybody.
  let description = "ReloadWatch"
  private let settings: Settings
  private let read: @Sendable () throws -> Settings
  private let onReload: @Sendable (ServeConfiguration) async throws -> Void
  private let signals: UnixSignalsSequence
  private let applied: Counter
  private let refused: Counter
  private let logger: Logger

  /// The signal is taken from here on, so that none ends a server that has said it listens.
  ///
  /// - Parameters:
  ///   - settings: What the server began with.
  ///   - read: Reads the sources.
  ///   - metrics: Where reloads are counted.
  ///   - onReload: Takes what the server runs with from now on, whether or not a value of the table is
  ///     another: files that settings name may hold something else. If it throws, all stays as it was; so
  ///     what may fail comes first in it.
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
        let faults = (error as? SettingFaults)?.all.map(\.description) ?? ["\(error)"]
        for fault in faults {
          self.logger.error("settings are not reloaded", metadata: ["fault": "\(fault)"])
        }
      }
    }
  }

  /// Returns what the server runs with from now on.
  private func reload(_ settings: Settings) async throws -> Settings {
    let newer = try self.read()
    let reload = settings.reloading(newer)
    try await self.onReload(reload.settings.configuration)
    for setting in reload.awaitingRestart {
      self.logger.warning(
        "a setting needs a restart",
        metadata: [
          "setting": "\(setting.key)", "origin": "\(newer.origin(of: setting))",
          "stays": "\(settings.words(for: setting))", "wanted": "\(newer.words(for: setting))",
        ])
    }
    // Before the log tells of it: whoever waits for that line finds it counted.
    self.applied.increment()
    let changed = reload.applied.map { "\($0.key)=\(reload.settings.words(for: $0))" }
    self.logger.notice("settings reloaded", metadata: ["changed": .array(changed.map { "\($0)" })])
    return reload.settings
  }
}
