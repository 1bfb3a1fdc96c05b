import Configuration
import Synchronization

/// Asks swift-configuration for settings, the first layer that has one wins, and says which it was.
struct SettingReader {
  private let reader: ConfigReader
  private let trace = AccessTrace()
  private let layers: [SettingLayer]

  /// - Parameter layers: The one that wins first.
  init(_ layers: [SettingLayer]) {
    self.layers = layers
    self.reader = ConfigReader(providers: layers.map(\.provider), accessReporter: self.trace)
  }

  /// What is given for a setting, and where; `nil`: nothing.
  func given(for setting: Setting) -> (texts: [String], origin: SettingOrigin)? {
    let key = ConfigKey(setting.key)
    let texts =
      setting.kind.isList
      ? self.reader.stringArray(forKey: key, isSecret: setting.isSecret)
      : self.reader.string(forKey: key, isSecret: setting.isSecret).map { [$0] }
    // Providers are asked in turn, and no further than the first that answers.
    guard let texts, let asked = self.trace.providersAsked else { return nil }
    return (texts, self.layers[asked - 1].origin(setting))
  }

  /// Remembers the last access.
  private final class AccessTrace: AccessReporter {
    private let asked = Mutex<Int?>(nil)

    /// How many providers the last access asked.
    var providersAsked: Int? { self.asked.withLock(\.self) }

    func report(_ event: AccessEvent) {
      self.asked.withLock { $0 = event.providerResults.count }
    }
  }
}
