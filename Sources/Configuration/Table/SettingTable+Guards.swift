extension SettingTable {
  static let guards = Group(
    title: "Guards",
    settings: [
      Setting(
        "guards.max-connections", \.base.guards.maxConnections,
        Form.count(1 ... 1_000_000, of: "connections"), change: .onReload,
        "Connections at a time, over all addresses."),
      Setting(
        "guards.max-connections-per-address", \.base.guards.maxConnectionsPerAddress,
        Form.count(1 ... 1_000_000, of: "connections"), change: .onReload,
        "Connections of one address at a time; all clients of a Unix socket count as one."),
      Setting(
        "guards.preface-timeout", \.base.guards.prefaceTimeout, Self.timeout, change: .onReload,
        "The time in which a connection must have begun to speak HTTP/2, with TLS after its handshake."
      ),
      Setting(
        "guards.keepalive-interval", \.base.guards.keepaliveInterval, Self.timeout,
        change: .onReload, "The silence after which a peer is asked for a sign of life."),
      Setting(
        "guards.keepalive-timeout", \.base.guards.keepaliveTimeout, Self.timeout,
        change: .onReload, "The time a peer has to give it."),
      Setting(
        "guards.write-stall-timeout", \.base.guards.writeStallTimeout, Self.timeout,
        change: .onReload, "The time in which a peer must take some of what is written to it."),
      Setting(
        "guards.linger-timeout", \.base.guards.lingerTimeout, Self.timeout, change: .onReload,
        "The time a client has to close its side of a call that has its status."),
      Setting(
        "guards.drain-timeout", \.base.guards.drainTimeout, Self.timeout,
        """
        The time after the begin of a shutdown at which connections are cut off; eight tenths of the \
        grace unless it is given.
        """),
      Setting(
        "guards.pings-per-second", \.base.guards.pingsPerSecond,
        Form.count(1 ... 1_000_000, of: "PINGs"), change: .onReload,
        "PINGs that a connection may send for ever; grpc-go sends one for each burst of data."),
      Setting(
        "guards.ping-burst", \.base.guards.pingBurst, Form.count(1 ... 1_000_000, of: "PINGs"),
        change: .onReload, "PINGs that a connection may send at once."),
      Setting(
        "guards.max-unfinished-bytes", \.base.guards.maxUnfinishedBytes,
        Form.size(1 << 20 ... 1 << 40),
        change: .onReload,
        "What messages that have begun and not ended may come to, over all addresses."),
      Setting(
        "guards.max-unfinished-bytes-per-address", \.base.guards.maxUnfinishedBytesPerAddress,
        Form.size(1 << 20 ... 1 << 40), change: .onReload,
        "The same of one address; behind a proxy all clients are one."),
      Setting(
        "guards.max-control-message-bytes", \.base.guards.maxControlMessageBytes,
        Form.size(1 << 10 ... 1 << 30), change: .onReload,
        "The largest message without pixels, and the most that one may have beside its pixels."),
      Setting(
        "guards.max-message-fields", \.base.guards.maxMessageFields,
        Form.count(64 ... 1 << 24, of: "fields"), change: .onReload,
        "Fields of a message, with those of the messages in it."),
      Setting(
        "guards.off", \.disabledGuards, Form.choice(Guard.self).list(),
        "Guards that are taken away; each holds something that a hostile peer would use."),
    ])

  private static let timeout = Form.duration(.milliseconds(10) ... .seconds(3600))
}
