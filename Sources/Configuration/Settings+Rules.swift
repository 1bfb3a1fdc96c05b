import SidelightIdentity
import SidelightServer
import SidelightWire

extension Settings {
  /// Derives settings that are not set from others, and returns the conflicts between settings.
  mutating func follow() -> [SettingError] {
    var faults: [SettingError] = []
    self.followProfile()
    faults += self.followGrace()
    if !self.configuration.sharedMemory.allowedUserIDs.isEmpty,
      self.configuration.sharedMemory.socketPath == nil
    {
      // The default directory is private to this user.
      faults.append(self.fault("shared-memory.users", "requires", "shared-memory.socket"))
    }
    if self.configuration.offersSharedMemory, !SharedMemoryConfiguration.isSupported {
      faults.append(
        SettingError(
          "\(self.name(of: "shared-memory.enabled")) is not supported on this system; "
            + "it requires Linux"))
    }
    if self.isGiven("resume.keys"), self.isGiven("resume.keys-file") {
      faults.append(self.fault("resume.keys", "cannot be combined with", "resume.keys-file"))
    }
    faults += self.configuration.workerErrors.map { key, reason in
      SettingError("\(self.name(of: key)) \(reason)")
    }
    return faults + self.identityFaults()
  }

  private func identityFaults() -> [SettingError] {
    var faults: [SettingError] = []
    func needs(_ key: String, _ others: [String]) {
      // Explicit defaults are allowed, since printed settings can be read again.
      let isDefault =
        SettingTable.setting(key)?.isSame(self.configuration, ServeConfiguration()) == true
      guard self.isGiven(key), !isDefault else { return }
      for other in others where !self.isGiven(other) {
        faults.append(self.fault(key, "requires", other))
      }
    }
    needs("tls.certificate", ["tls.key"])
    needs("tls.key", ["tls.certificate"])
    needs("tls.client-ca", ["tls.certificate"])
    if (self.configuration.tls.clientCertificates ?? .none) != .none {
      needs("tls.client-certificates", ["tls.certificate", "tls.client-ca"])
    }
    needs("tls.min-version", ["tls.certificate"])
    needs("identity.certificates", ["tls.client-ca"])
    needs("token.leeway", ["token.issuer"])
    needs("token.scope-prefix", ["token.issuer"])
    needs("token.issuer", ["token.audience", "token.keys"])
    needs("token.audience", ["token.issuer"])
    needs("token.keys", ["token.issuer"])
    do throws(ConfigurationFault) {
      try self.configuration.tokens?.validate()
    } catch {
      faults.append(
        SettingError(
          "\(self.name(of: error.setting)) is \(error.value); the range is \(error.range)"))
    }
    return faults
  }

  private mutating func followProfile() {
    guard self.isGiven("transport.profile"), self.configuration.profile != .latency else { return }
    for key in ["transport.executor", "transport.flush-delay"] where !self.isGiven(key) {
      self.imply(key, by: "transport.profile")
    }
  }

  /// Derives the drain timeouts, so that connections close before the grace period ends.
  private mutating func followGrace() -> [SettingError] {
    let grace = self.configuration.shutdownGrace
    if !self.isGiven("shutdown.drain-timeout") {
      let drain = min(self.configuration.base.drainTimeout, grace * 0.6)
      if drain != self.configuration.base.drainTimeout {
        self.imply("shutdown.drain-timeout", by: "shutdown.grace")
      }
      self.configuration.base.drainTimeout = drain
    }
    if !self.isGiven("guards.drain-timeout") {
      if self.isGiven("shutdown.grace") {
        self.imply("guards.drain-timeout", by: "shutdown.grace")
      }
      self.configuration.base.guards.drainTimeout = grace * 0.8
    }
    return ["shutdown.drain-timeout", "guards.drain-timeout"].compactMap { key in
      let value =
        key == "guards.drain-timeout"
        ? self.configuration.base.guards.drainTimeout : self.configuration.base.drainTimeout
      guard self.isGiven(key), value > grace else { return nil }
      return SettingError(
        "\(self.name(of: key)) is \(DurationUnit.text(of: value)); it must not exceed "
          + "shutdown.grace, which is \(DurationUnit.text(of: grace))")
    }
  }

  private func fault(_ key: String, _ verb: String, _ other: String) -> SettingError {
    // Names the other setting in the same form as the source: a flag for a flag.
    let otherName: String
    switch self.origins[key] {
    case .flag: otherName = SettingTable.setting(other)?.flag ?? other
    case .environment: otherName = SettingTable.setting(other)?.variable ?? other
    default: otherName = other
    }
    return SettingError("\(self.name(of: key)) \(verb) \(otherName)")
  }

  private func name(of key: String) -> String {
    guard let setting = SettingTable.setting(key) else { return key }
    return setting.named(in: self.origin(of: setting))
  }
}
