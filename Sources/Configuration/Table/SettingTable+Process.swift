import Logging

extension SettingTable {
  static let compute = Group(
    title: "Compute threads",
    settings: [
      Setting(
        "compute.threads", \.computeThreads,
        Format.count(1 ... 65536, of: "threads").optional(none: "one per processor"), use: .common,
        "Number of threads that run filters."),
      Setting(
        "compute.niceness", \.base.computeNiceness, Format.count(0 ... 19),
        "Niceness of the compute threads, so that threads that serve gRPC run first."),
    ])

  static let workers = Group(
    title: "Worker processes",
    settings: [
      Setting(
        "workers.count", \.workers, Format.count(0 ... 64, of: "processes"), flag: "workers",
        use: .common,
        """
        Number of worker processes, supervised by this one. A crash, such as a trap in a filter, \
        ends only the sessions of one worker. 0 serves in this process.
        """)
    ])

  static let memory = Group(
    title: "Memory",
    settings: [
      Setting(
        "memory.allocator", \.allocator, Format.choice(), flag: "allocator",
        """
        frames keeps freed memory for the next frames, which are then two to three times as fast; \
        system uses the C allocator's defaults.
        """),
      Setting(
        "memory.max-idle-pool-bytes", \.base.maxIdlePoolBytes, Format.size(0 ... 1 << 40),
        "Maximum size of idle frame buffers."),
      Setting(
        "memory.release-after", \.base.releaseMemoryAfter,
        Format.duration(.seconds(1) ... .seconds(86400)).orZero("never"),
        flag: "release-memory-after",
        """
        Interval at which unused memory is returned to the system; while frames arrive, only if it \
        exceeds an eighth.
        """),
    ])

  static let shutdown = Group(
    title: "Shutdown",
    settings: [
      Setting(
        "shutdown.grace", \.shutdownGrace, Format.duration(.milliseconds(100) ... .seconds(3600)),
        use: .common, "Maximum duration of a shutdown; then remaining work is aborted."),
      Setting(
        "shutdown.drain-timeout", \.base.drainTimeout,
        Format.duration(.milliseconds(10) ... .seconds(3600)),
        """
        Maximum time for sessions to finish; 60 % of shutdown.grace, at most 5 s, unless set.
        """),
    ])

  static let logs = Group(
    title: "Logs",
    settings: [
      Setting(
        "log.level", \.logLevel, Format.choice(), use: .common, change: .onReload,
        "Minimum level of log messages, which go to standard error."),
      Setting(
        "log.format", \.logFormat,
        Format.choice(LogFormat.self).optional(none: "text on a terminal, else json"),
        use: .common, "Format of the log."),
    ])
}
