import AsyncAlgorithms
import Foundation
import Logging
import Metrics
import ServiceLifecycle
import SidelightConfiguration
import UnixSignals

/// Reloads the settings on SIGHUP, and when a file that they are read from has changed. Applies all
/// reloadable changes, or leaves the settings unchanged on an error.
struct ReloadService: Service, CustomStringConvertible {
  /// The help texts of metrics, by name.
  static let metricDescriptions = [
    Self.counter: "Reloads of the settings, by outcome."
  ]
  /// The time between two checks of the files.
  private static let checkInterval = Duration.seconds(5)
  private static let counter = "sidelight_configuration_reloads_total"

  /// The name of the service, for logs. The default would contain the settings.
  let description = "ReloadService"
  private let settings: Settings
  private let versions: FileVersions
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
    settings: Settings, versions: FileVersions, read: @escaping @Sendable () throws -> Settings,
    metrics: any MetricsFactory, logger: Logger,
    onReload: @escaping @Sendable (ServeConfiguration) async throws -> Void
  ) async {
    self.settings = settings
    self.versions = versions
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
    var known = self.versions
    var last = known
    let checks = AsyncTimerSequence(interval: Self.checkInterval, clock: .continuous)
    let causes = merge(self.signals.map { _ in true }, checks.map { _ in false })
    for await isSignal in causes.cancelOnGracefulShutdown() {
      let current = FileVersions(of: settings.files)
      // Files that are being written change again.
      let isDue = isSignal || current != known && current == last
      last = current
      guard isDue else { continue }
      known = current
      do {
        let files = settings.files
        settings = try await self.reload(settings)
        if settings.files != files { known = FileVersions(of: settings.files) }
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

/// The versions of files, which differ after each change, also of links that lead to a file.
struct FileVersions: Equatable, Sendable {
  private struct Version: Equatable, Sendable {
    let device: UInt
    let inode: UInt
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  /// The versions of the files that exist, by path.
  private let versions: [String: Version]

  init(of paths: [String]) {
    self.versions = paths.reduce(into: [:]) { versions, path in
      var status = stat()
      guard stat(path, &status) == 0 else { return }
      #if canImport(Darwin)
        let changed = status.st_mtimespec
      #else
        let changed = status.st_mtim
      #endif
      versions[path] = Version(
        device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
        seconds: changed.tv_sec, nanoseconds: changed.tv_nsec)
    }
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
