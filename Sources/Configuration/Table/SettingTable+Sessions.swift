import Foundation
import SidelightFleet
import SidelightServer

extension SettingTable {
  static let limits = Group(
    title: "Limits",
    settings: [
      Setting(
        "limits.max-sessions", \.base.maxSessions, Format.count(1 ... 65536, of: "sessions"),
        flag: "max-sessions", use: .common, change: .onReload, "Maximum number of sessions."),
      Setting(
        "limits.max-sessions-per-caller", \.base.quotas.sessions,
        Format.count(1 ... 65536, of: "sessions"), flag: "max-sessions-per-caller", use: .common,
        change: .onReload, "Maximum number of sessions per caller."),
      Setting(
        "limits.max-sessions-per-participant", \.base.quotas.participant.sessions,
        Format.count(1 ... 65536, of: "sessions").optional(none: "no limit"),
        flag: "max-sessions-per-participant", change: .onReload,
        "Maximum number of sessions per participant of a caller."),
      Setting(
        "limits.max-codec-bytes-per-caller", \.base.quotas.codecBytes,
        Format.size(0 ... 1 << 40), change: .onReload,
        "Maximum memory of the video decoders and encoders of one caller and its participants."),
      Setting(
        "limits.max-load", \.base.maxLoad,
        Format.ratio(0.01 ... 1000).orZero("no limit"),
        flag: "max-load", use: .common, change: .onReload,
        """
        Load at which new sessions are refused: the arriving work relative to the compute capacity.
        """),
      Setting(
        "limits.max-frame-pixels", \.base.maxFramePixels, Format.count(1 ... 1 << 28, of: "pixels"),
        "Maximum number of pixels of a frame."),
    ])

  static let resume = Group(
    title: "Resuming sessions",
    settings: [
      Setting(
        "resume.keys", \.resumeKeys,
        Format.resumeKey.list(atLeast: 1).optional(none: "a random key"),
        change: .onReload, isSecret: true,
        """
        Keys that sign resume tokens: the first signs, all are accepted. Servers that share a key \
        resume each other's sessions.
        """),
      Setting(
        "resume.keys-file", \.resumeKeyFile, Format.resumeKeyFile.optional(none: "none"),
        change: .onReload, "File with resume keys, one per line; its contents are never shown."),
    ])

  static let fleet = Group(
    title: "Fleet",
    settings: [
      Setting(
        "fleet.etcd", \.fleet, Format.fleet.optional(none: "disabled"),
        """
        URL of the etcd through which the servers of a fleet share overrides and quotas. The prefix \
        of keys, by default sidelight, separates fleets.
        """),
      Setting(
        "fleet.peers", \.base.placement.peers, Format.peer.list(), flag: "peers",
        """
        Servers of the fleet, as clients reach them; a host name stands for all of its addresses. \
        Clients ask for the best with Place.
        """),
      Setting(
        "fleet.rebalance", \.base.placement.rebalancing, Format.choice(), flag: "rebalance",
        """
        Moves sessions to peers that have room while the load is above 0.8: direct names an address, \
        also at a shutdown; proxy lets the client choose, since its proxy balances by load. Sessions \
        of groups stay while the server runs.
        """),
    ])

  static let assets = Group(
    title: "Assets",
    settings: [
      Setting(
        "assets.provided", \.providedAssets, Format.providedAsset.list(), flag: "asset",
        use: .common, "PNG, JPEG or .cube files that all callers' pipelines can name."),
      Setting(
        "assets.max-per-caller", \.base.assets.maxAssetsPerCaller,
        Format.count(0 ... 65536, of: "assets"), flag: "max-assets-per-caller",
        "Maximum number of assets per caller and its participants; 0 disables uploads."),
      Setting(
        "assets.max-bytes-per-caller", \.base.assets.maxMemoryBytesPerCaller,
        Format.size(0 ... 1 << 40), flag: "max-asset-bytes-per-caller",
        "Maximum memory of the assets of one caller and its participants, decoded."),
      Setting(
        "assets.max-bytes", \.base.assets.maxMemoryBytes, Format.size(0 ... 1 << 40),
        flag: "max-asset-bytes", "Maximum memory of all callers' assets, decoded."),
      Setting(
        "assets.max-file-bytes", \.base.assets.maxFileBytes, Format.size(0 ... 1 << 30),
        flag: "max-asset-file-bytes", "Maximum size of an uploaded file."),
      Setting(
        "assets.lifetime", \.base.assets.lifetime, Format.duration(.zero ... .seconds(86400)),
        flag: "asset-lifetime",
        "Time that the assets of a caller or participant without sessions are kept."),
    ])

  // A number without a unit counts mebibytes, as the name says.
  static let sharedMemory = Group(
    title: "Shared memory",
    settings: [
      Setting(
        "shared-memory.enabled", \.offersSharedMemory, Format.toggle, flag: "shared-memory",
        use: .common,
        "Exchange pixels in shared memory with clients on this host that request it."),
      Setting(
        "shared-memory.socket", \.sharedMemory.socketPath,
        Format.path(maxBytes: 107).optional(none: "in a new private directory"),
        "Path of the descriptor socket, from which clients fetch rings."),
      Setting(
        "shared-memory.mb", \.sharedMemory.maxBytes,
        Format.size(1 << 20 ... 1 << 40, plain: 1 << 20),
        "Maximum size of all rings; a ring has at most 512 MiB."),
      Setting(
        "shared-memory.users", \.sharedMemory.userIDs, Format.userID.list(),
        flag: "shared-memory-user",
        """
        IDs of users, in addition to this one and root, whose processes may fetch rings; requires \
        shared-memory.socket.
        """),
      Setting(
        "shared-memory.descriptor-timeout", \.sharedMemory.descriptorSocketTimeout,
        Format.duration(.milliseconds(10) ... .seconds(60)),
        formerly: ["shared-memory.companion-timeout"],
        "Maximum time for a descriptor connection to name its ring."),
    ])
}

extension Format {
  fileprivate static var fleet: SettingFormat<FleetConfiguration> {
    let form = "http://HOST:PORT/PREFIX"
    return SettingFormat(
      SettingKind(type: "URL", range: "\(form), or https"),
      parse: { text throws(InvalidSettingValue) in
        guard let fleet = FleetConfiguration(text) else {
          throw InvalidSettingValue("expected \(form), or https, without user and password")
        }
        return fleet
      },
      text: \.description)
  }

  fileprivate static var resumeKey: SettingFormat<ResumeKey> {
    SettingFormat(
      SettingKind(
        type: "secret", range: "NAME:SECRET, the secret at least 32 bytes in Base64"),
      parse: { text throws(InvalidSettingValue) in try ResumeKey(line: text) },
      text: { "\($0.id):\($0.secret.base64EncodedString())" })
  }

  fileprivate static var peer: SettingFormat<Address> {
    SettingFormat(
      SettingKind(type: "address", range: "HOST:PORT"),
      parse: { text throws(InvalidSettingValue) in
        let value = try Format.address.parse([text])
        guard case .tcp(_, 1...) = value else { throw InvalidSettingValue("expected HOST:PORT") }
        return value
      },
      text: \.description)
  }

  fileprivate static var resumeKeyFile: SettingFormat<ResumeKeyFile> {
    SettingFormat(
      SettingKind(type: "path"),
      parse: { text throws(InvalidSettingValue) in try ResumeKeyFile(path: text) }, text: \.path)
  }

  fileprivate static var providedAsset: SettingFormat<ProvidedAsset> {
    SettingFormat(
      SettingKind(type: "named file", range: "NAME=PATH"),
      parse: { text throws(InvalidSettingValue) in
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, !text.hasPrefix("=") else {
          throw InvalidSettingValue("expected NAME=PATH")
        }
        return ProvidedAsset(name: String(parts[0]), path: String(parts[1]))
      },
      text: { "\($0.name)=\($0.path)" })
  }
}

extension SharedMemoryConfiguration {
  /// ``allowedUserIDs``, sorted.
  fileprivate var userIDs: [UInt32] {
    get { self.allowedUserIDs.sorted() }
    set { self.allowedUserIDs = Set(newValue) }
  }
}
