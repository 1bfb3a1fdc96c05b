/// A setting of an earlier version. Setting it is an error that names the alternative.
package struct RemovedSetting: Sendable {
  package let key: String
  package let flag: String
  /// The remedy, as a clause without a full stop.
  package let remedy: String

  fileprivate init(_ key: String, flag: String? = nil, _ remedy: String) {
    self.key = key
    self.flag = flag.map { "--" + $0 } ?? Setting.flag(of: key)
    self.remedy = remedy
  }

  /// Creates a setting that only programs have that embed the server.
  fileprivate init(_ key: String, flag: String? = nil, inSwift property: String) {
    self.init(
      key, flag: flag,
      "leave it out for its default; programs that embed the server set \(property)")
  }
}

extension SettingTable {
  package static let removed: [RemovedSetting] = [
    RemovedSetting("assets.max", flag: "max-assets", inSwift: "AssetConfiguration.maxAssets"),
    RemovedSetting(
      "assets.max-pixels", flag: "max-asset-pixels", inSwift: "AssetConfiguration.maxPixels"),
    RemovedSetting(
      "assets.upload-timeout", flag: "asset-upload-timeout",
      inSwift: "AssetConfiguration.uploadTimeout"),
    RemovedSetting("compute.niceness", inSwift: "ServerConfiguration.computeNiceness"),
    RemovedSetting("guards.drain-timeout", "set shutdown.grace, of which it is 72 %, at most 6 s"),
    RemovedSetting("guards.keepalive-timeout", inSwift: "GuardConfiguration.keepaliveTimeout"),
    RemovedSetting("guards.linger-timeout", inSwift: "GuardConfiguration.lingerTimeout"),
    RemovedSetting(
      "guards.max-connections-per-address",
      "set guards.max-connections, of which it is a quarter, at least 512 and at most a half"),
    RemovedSetting(
      "guards.max-control-message-bytes", inSwift: "GuardConfiguration.maxControlMessageBytes"),
    RemovedSetting("guards.max-message-fields", inSwift: "GuardConfiguration.maxMessageFields"),
    RemovedSetting(
      "guards.max-unfinished-bytes-per-address",
      "set guards.max-unfinished-bytes, of which it is a quarter, at least 512 MiB and at most a "
        + "half"),
    RemovedSetting(
      "guards.off",
      "leave it out; all guards are active, and the other settings guards.* are their limits"),
    RemovedSetting(
      "guards.ping-burst", "set guards.pings-per-second; the burst is four times as much"),
    RemovedSetting(
      "limits.custom-filter-timeout", inSwift: "ServerConfiguration.customFilterTimeout"),
    RemovedSetting("limits.frames-in-flight", inSwift: "ServerConfiguration.framesInFlight"),
    RemovedSetting(
      "limits.max-consecutive-errors", inSwift: "ServerConfiguration.maxConsecutiveErrors"),
    RemovedSetting("limits.max-plan-bytes", inSwift: "ServerConfiguration.maxPlanBytes"),
    RemovedSetting("limits.max-total-plan-bytes", inSwift: "ServerConfiguration.maxTotalPlanBytes"),
    RemovedSetting(
      "memory.allocator", flag: "allocator",
      "leave it out; memory.release-after returns unused memory"),
    RemovedSetting("memory.max-idle-pool-bytes", inSwift: "ServerConfiguration.maxIdlePoolBytes"),
    RemovedSetting("resume.enabled", inSwift: "ServerConfiguration.resumeKeys"),
    RemovedSetting("resume.token-lifetime", inSwift: "ServerConfiguration.resumeTokenLifetime"),
    RemovedSetting(
      "shared-memory.max-pending-connections",
      inSwift: "SharedMemoryConfiguration.maxPendingConnections"),
    RemovedSetting(
      "shared-memory.session-mb", inSwift: "SharedMemoryConfiguration.maxSessionBytes"),
    RemovedSetting(
      "shared-memory.token-lifetime", inSwift: "SharedMemoryConfiguration.tokenLifetime"),
    RemovedSetting(
      "shutdown.drain-timeout",
      "set shutdown.grace, of which it is 60 %, at most 5 s"),
    RemovedSetting("token.leeway", inSwift: "TokenConfiguration.leeway"),
    RemovedSetting(
      "transport.event-loops", flag: "event-loops", inSwift: "TransportConfiguration.eventLoops"),
    RemovedSetting("transport.executor", Self.useProfile),
    RemovedSetting("transport.flush-bytes", Self.useProfile),
    RemovedSetting("transport.flush-delay", Self.useProfile),
    RemovedSetting(
      "transport.http2-frame-bytes", flag: "http2-frame-bytes",
      inSwift: "TransportConfiguration.http2FrameBytes"),
    RemovedSetting(
      "transport.max-concurrent-streams", inSwift: "TransportConfiguration.maxConcurrentStreams"),
    RemovedSetting(
      "transport.receive-buffer-bytes", inSwift: "TransportConfiguration.receiveBufferBytes"),
    RemovedSetting(
      "transport.stream-window-bytes", flag: "stream-window-bytes",
      inSwift: "TransportConfiguration.streamWindowBytes"),
    RemovedSetting(
      "transport.unix-socket-buffer-bytes", flag: "unix-socket-buffer-bytes",
      inSwift: "TransportConfiguration.unixSocketBufferBytes"),
  ]

  private static let useProfile = "set transport.profile"

  package static func removedSetting(_ key: String) -> RemovedSetting? {
    Self.removed.first { $0.key == key }
  }
}
