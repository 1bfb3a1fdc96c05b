extension SettingTable {
  static let guards = Group(
    title: "Guards",
    settings: [
      Setting(
        "guards.max-connections", \.base.guards.maxConnections,
        Format.count(1 ... 1_000_000, of: "connections"), change: .onReload,
        "Maximum number of concurrent connections, over all addresses."),
      Setting(
        "guards.max-connections-per-address", \.base.guards.maxConnectionsPerAddress,
        Format.count(1 ... 1_000_000, of: "connections"), change: .onReload,
        """
        Maximum number of concurrent connections per address; all clients of a Unix socket count \
        as one.
        """),
      Setting(
        "guards.preface-timeout", \.base.guards.prefaceTimeout, Self.timeout, change: .onReload,
        """
        Maximum time for a new connection to send the HTTP/2 preface, with TLS after the \
        handshake.
        """),
      Setting(
        "guards.keepalive-interval", \.base.guards.keepaliveInterval, Self.timeout,
        change: .onReload, "Idle time after which a keepalive PING is sent to the peer."),
      Setting(
        "guards.keepalive-timeout", \.base.guards.keepaliveTimeout, Self.timeout,
        change: .onReload, "Maximum time for the peer to answer a keepalive PING."),
      Setting(
        "guards.write-stall-timeout", \.base.guards.writeStallTimeout, Self.timeout,
        change: .onReload, "Maximum time for which a peer may accept no written data."),
      Setting(
        "guards.linger-timeout", \.base.guards.lingerTimeout, Self.timeout, change: .onReload,
        "Maximum time for a client to close its side of a finished call."),
      Setting(
        "guards.drain-timeout", \.base.guards.drainTimeout, Self.timeout,
        """
        Time after the start of a shutdown at which remaining connections are closed; 80 % of \
        shutdown.grace unless set.
        """),
      Setting(
        "guards.pings-per-second", \.base.guards.pingsPerSecond,
        Format.count(1 ... 1_000_000, of: "PINGs"), change: .onReload,
        """
        Sustained rate of PINGs per connection and second; grpc-go sends one per burst of data.
        """),
      Setting(
        "guards.ping-burst", \.base.guards.pingBurst, Format.count(1 ... 1_000_000, of: "PINGs"),
        change: .onReload, "Maximum burst of PINGs per connection."),
      Setting(
        "guards.max-unfinished-bytes", \.base.guards.maxUnfinishedBytes,
        Format.size(1 << 20 ... 1 << 40),
        change: .onReload,
        "Maximum size of all incompletely received messages, over all addresses."),
      Setting(
        "guards.max-unfinished-bytes-per-address", \.base.guards.maxUnfinishedBytesPerAddress,
        Format.size(1 << 20 ... 1 << 40), change: .onReload,
        """
        Maximum size of all incompletely received messages per address; clients behind one proxy \
        share it.
        """),
      Setting(
        "guards.max-control-message-bytes", \.base.guards.maxControlMessageBytes,
        Format.size(1 << 10 ... 1 << 30), change: .onReload,
        "Maximum size of a message without its pixels."),
      Setting(
        "guards.max-message-fields", \.base.guards.maxMessageFields,
        Format.count(64 ... 1 << 24, of: "fields"), change: .onReload,
        "Maximum number of fields of a message, including nested messages."),
      Setting(
        "guards.off", \.disabledGuards, Format.choice(Guard.self).list(),
        "Guards to disable; each protects against one attack by a hostile peer."),
    ])

  private static let timeout = Format.duration(.milliseconds(10) ... .seconds(3600))
}
