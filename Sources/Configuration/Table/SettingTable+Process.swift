public import Logging

/// The settings of the log.
public struct LogSettings: Sendable {
  /// The minimum level of messages.
  public var level = Logger.Level.info
  /// The format. `nil`: text on a terminal, else JSON.
  public var format: LogFormat?
}

extension SettingTable {
  static let compute = Group(
    title: "Compute threads",
    settings: [
      Setting(
        "compute.threads", \.computeThreads,
        Format.count(1 ... 65536, of: "threads").optional(none: "one per processor"), use: .common,
        "Number of threads that run filters.")
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

  static let filterProcesses = Group(
    title: "Filter processes",
    settings: [
      Setting(
        "filter-processes.commands", \.filterProcesses,
        Format.text(type: "command", maxBytes: 4096).list(), flag: "filter-process", use: .common,
        "Commands that serve filters, run by the shell, such as 'python3 filters.py'."),
      Setting(
        "filter-processes.count", \.filterProcessCount, Format.count(1 ... 64, of: "processes"),
        flag: "filter-process-count",
        "Number of processes of every command, over which sessions are spread."),
      Setting(
        "filter-processes.reload", \.reloadsFilterProcesses, Format.toggle,
        flag: "filter-reload",
        """
        Start filter processes again when a file that their command names has changed, for \
        development. SIGHUP always does; the new ones replace the running ones once they are ready.
        """),
    ])

  static let memory = Group(
    title: "Memory",
    settings: [
      Setting(
        "memory.release-after", \.base.releaseMemoryAfter,
        Format.duration(.seconds(1) ... .seconds(86400)).orZero("never"),
        flag: "release-memory-after",
        """
        Interval at which unused memory is returned to the system; while frames arrive, only if it \
        exceeds an eighth.
        """)
    ])

  static let shutdown = Group(
    title: "Shutdown",
    settings: [
      Setting(
        "shutdown.grace", \.shutdownGrace, Format.duration(.milliseconds(100) ... .seconds(3600)),
        use: .common, "Maximum duration of a shutdown; then remaining work is aborted.")
    ])

  static let logs = Group(
    title: "Logs",
    settings: [
      Setting(
        "log.level", \.log.level, Format.choice(), use: .common, change: .onReload,
        "Minimum level of log messages, which go to standard error."),
      Setting(
        "log.format", \.log.format,
        Format.choice(LogFormat.self).optional(none: "text on a terminal, else json"),
        use: .common, "Format of the log."),
    ])
}
