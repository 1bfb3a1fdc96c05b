import SidelightServer
import SidelightStudio
import SidelightWire

/// The settings of the studio.
struct StudioSettings: Sendable {
  /// The address of the page. `nil` disables the studio.
  var address: Address?
  /// The names under which the page may be requested, in addition to loopback.
  var hosts: [String] = []
  /// A folder with the files of the page. `nil` uses the files in the binary.
  var folder: String?

  /// The configuration of the studio. `nil` disables it.
  var configuration: Studio.Configuration? {
    self.address.map { address in
      var studio = Studio.Configuration(address: address)
      studio.hosts = self.hosts
      studio.folder = self.folder
      return studio
    }
  }
}

extension SettingTable {
  static let addresses = Group(
    title: "Addresses",
    settings: [
      Setting(
        "listen", \.base.addresses, Format.address.list(atLeast: 1), short: "l", use: .common,
        "Addresses to listen on; port 0 lets the system choose."),
      Setting(
        "unix-socket.mode", \.base.unixSocketPermissions, Format.mode, use: .common,
        "File permissions of Unix sockets: who may connect."),
      Setting(
        "admin.listen", \.admin, Format.address.optional(none: "disabled"), flag: "admin",
        use: .common,
        """
        Address of the admin HTTP server: probes (/livez, /readyz), /metrics, /version and a live \
        page (/).
        """),
    ])

  static let studio = Group(
    title: "Studio",
    settings: [
      Setting(
        "studio.listen", \.studio.address, Format.tcpAddress.optional(none: "disabled"),
        flag: "studio", use: .common,
        """
        Address of the studio: a web page that filters the camera, and WebSockets that carry calls. \
        Its URL with a one-time token is printed.
        """),
      Setting(
        "studio.hosts", \.studio.hosts, Format.text(type: "name", maxBytes: 253).list(),
        """
        Names under which the studio may be requested, such as that of a proxy; loopback and the \
        address itself are always accepted.
        """),
      Setting(
        "studio.page", \.studio.folder, Format.path().optional(none: "built in"),
        "Folder whose files are served as the studio's page, for its developers."),
    ])

  // The profile comes before the settings that override it.
  static let transport = Group(
    title: "Transport",
    settings: [
      Setting(
        "transport.profile", \.profile, Format.choice(), flag: "profile", use: .common,
        """
        latency serves calls on the threads of their connections and sends at once; throughput \
        serves them on all processors and combines small messages.
        """),
      Setting(
        "transport.max-message-bytes", \.base.transport.maxMessageBytes,
        Format.size(TransportConfiguration.maxMessageBytesRange),
        flag: "max-message-bytes",
        "Maximum size of a message, each way; a 4K BGRA frame has 33 MB."),
      Setting(
        "transport.congestion-control", \.base.transport.congestionControl,
        Format.text(type: "name", maxBytes: 15)
          .optional(none: "bbr where the system offers it, otherwise the system's default"),
        flag: "congestion-control",
        """
        Congestion control of TCP, by its name in the system. After lost packets cubic sends much \
        less than bbr.
        """),
    ])

  static let guards = Group(
    title: "Guards",
    settings: [
      Setting(
        "guards.max-connections", \.base.guards.maxConnections,
        Format.count(1 ... 1_000_000, of: "connections"), change: .onReload,
        """
        Maximum number of concurrent connections; per address a quarter of it, at least 512 and at \
        most a half. All clients of a Unix socket or proxy count as one address.
        """),
      Setting(
        "guards.preface-timeout", \.base.guards.prefaceTimeout, Self.timeout, change: .onReload,
        "Maximum time for a new connection to send the HTTP/2 preface, with the TLS handshake."),
      Setting(
        "guards.keepalive-interval", \.base.guards.keepaliveInterval, Self.timeout,
        change: .onReload,
        "Idle time after which a keepalive PING is sent to the peer, which has 6 s to answer."),
      Setting(
        "guards.write-stall-timeout", \.base.guards.writeStallTimeout, Self.timeout,
        change: .onReload, "Maximum time for which a peer may accept no written data."),
      Setting(
        "guards.pings-per-second", \.base.guards.pingsPerSecond,
        Format.count(1 ... 1_000_000, of: "PINGs"), change: .onReload,
        """
        Sustained rate of PINGs per connection and second; grpc-go sends one per burst of data.
        """),
      Setting(
        "guards.max-unfinished-bytes", \.base.guards.maxUnfinishedBytes,
        Format.size(1 << 20 ... 1 << 40), change: .onReload,
        """
        Maximum size of all incompletely received messages; per address a quarter of it, at least \
        512 MiB and at most a half.
        """),
    ])

  private static let timeout = Format.duration(.milliseconds(10) ... .seconds(3600))
}
