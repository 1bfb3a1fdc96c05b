import Foundation

/// The process metrics of Linux, under the standard names of Prometheus' client libraries.
struct ProcessStatistics {
  /// The resident memory in bytes.
  var residentBytes: Double
  /// The virtual memory in bytes.
  var virtualBytes: Double
  /// The CPU time of all threads in user and kernel mode, in seconds.
  var processorSeconds: Double
  /// The start of the process, in seconds since the Unix epoch.
  var startTime: Double
  /// The number of open file descriptors.
  var openFiles: Double
  /// The maximum number of open file descriptors.
  var maxFiles: Double

  func write(to text: inout String) {
    for (name, kind, value, help) in [
      (
        "process_cpu_seconds_total", MetricFamily.Kind.counter, self.processorSeconds,
        "CPU time in user and kernel mode, in seconds."
      ),
      ("process_max_fds", .gauge, self.maxFiles, "Maximum number of open file descriptors."),
      ("process_open_fds", .gauge, self.openFiles, "Open file descriptors."),
      ("process_resident_memory_bytes", .gauge, self.residentBytes, "Resident memory, in bytes."),
      (
        "process_start_time_seconds", .gauge, self.startTime,
        "Start time of the process, in seconds since the Unix epoch."
      ),
      ("process_virtual_memory_bytes", .gauge, self.virtualBytes, "Virtual memory, in bytes."),
    ] {
      let series = MetricValue()
      series.set(value)
      MetricFamily(kind: kind, values: [MetricLabels([]): series])
        .write(to: &text, name: name, help: help)
    }
  }
}

#if canImport(Glibc)
  extension ProcessStatistics {
    /// The current figures; `nil` on systems without `/proc`.
    static var current: ProcessStatistics? {
      // The fields from 3 on (proc(5)), after the command's name, which may contain anything.
      guard let stat = Self.contents(of: "/proc/self/stat"),
        let end = stat.lastIndex(of: ")"),
        let boot = Self.contents(of: "/proc/stat")?.split(separator: "\n")
          .first(where: { $0.hasPrefix("btime ") })?.dropFirst(6),
        let bootTime = Double(boot)
      else { return nil }
      let fields = stat[end...].split(separator: " ").map { Double($0) ?? 0 }
      guard fields.count > 22 else { return nil }
      let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      return ProcessStatistics(
        residentBytes: fields[22] * Double(sysconf(Int32(_SC_PAGESIZE))), virtualBytes: fields[21],
        processorSeconds: (fields[12] + fields[13]) / ticks,
        startTime: bootTime + fields[20] / ticks,
        openFiles: Double(Self.openFiles), maxFiles: Double(limit.rlim_cur))
    }

    private static var openFiles: Int {
      guard let folder = opendir("/proc/self/fd") else { return 0 }
      defer { closedir(folder) }
      var count = 0
      while readdir(folder) != nil { count += 1 }
      // Without `.`, `..` and the directory itself.
      return count - 3
    }

    private static func contents(of path: String) -> String? {
      FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
  }
#else
  extension ProcessStatistics {
    /// Always `nil`, because `/proc` is missing.
    static var current: ProcessStatistics? { nil }
  }
#endif
