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
        "studio.listen", \.studioAddress, Format.tcpAddress.optional(none: "disabled"),
        flag: "studio", use: .common,
        """
        Address of the studio: a web page that filters the camera, and WebSockets that carry calls. \
        Its URL with a one-time token is printed.
        """),
      Setting(
        "studio.hosts", \.studioHosts, Format.text(type: "name", maxBytes: 253).list(),
        """
        Names under which the studio may be requested, such as that of a proxy; loopback and the \
        address itself are always accepted.
        """),
      Setting(
        "studio.page", \.studioFolder, Format.path().optional(none: "built in"),
        "Folder whose files are served as the studio's page, for its developers."),
    ])

  // The profile comes before the settings that it sets, so that these override it.
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
        "transport.executor", \.base.transport.executor, Format.choice(),
        "Threads that serve calls: those of their connections, or Swift's own pool."),
      Setting(
        "transport.event-loops", \.base.transport.eventLoops,
        Format.count(1 ... 1024, of: "threads").optional(none: "one per processor"),
        flag: "event-loops", "Number of threads that serve connections."),
      Setting(
        "transport.max-message-bytes", \.base.transport.maxMessageBytes,
        Format.size(64 << 10 ... 1 << 30),
        flag: "max-message-bytes",
        "Maximum size of a message, each way; a 4K BGRA frame has 33 MB."),
      Setting(
        "transport.stream-window-bytes", \.base.transport.streamWindowBytes,
        Format.size(64 << 10 ... 1 << 31 - 1), flag: "stream-window-bytes",
        "HTTP/2 flow-control window of a stream."),
      Setting(
        "transport.http2-frame-bytes", \.base.transport.http2FrameBytes,
        Format.size(16 << 10 ... 1 << 24 - 1), flag: "http2-frame-bytes",
        "Maximum size of an HTTP/2 frame."),
      Setting(
        "transport.max-concurrent-streams", \.base.transport.maxConcurrentStreams,
        Format.count(1 ... 65536, of: "streams"),
        "Maximum number of concurrent calls per connection."),
      Setting(
        "transport.receive-buffer-bytes", \.base.transport.receiveBufferBytes,
        Format.size(4 << 10 ... 16 << 20), "Size of a read from a socket."),
      Setting(
        "transport.unix-socket-buffer-bytes", \.base.transport.unixSocketBufferBytes,
        Format.size(4 << 10 ... 64 << 20).optional(none: "chosen by the system"),
        flag: "unix-socket-buffer-bytes",
        "Size of the kernel's buffers of a Unix socket, each way."),
      Setting(
        "transport.flush-delay", \.flushDelay,
        Format.duration(.microseconds(1) ... .milliseconds(100)).orZero("no delay"),
        "Maximum time that a write waits to be combined with others."),
      Setting(
        "transport.flush-bytes", \.flushBytes, Format.size(1 << 10 ... 16 << 20),
        "Number of pending bytes at which a write does not wait."),
    ])

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
        "Maximum time for a new connection to send the HTTP/2 preface, with the TLS handshake."),
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
