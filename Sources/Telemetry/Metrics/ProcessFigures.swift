#if canImport(Glibc)
  import Glibc
#endif

/// What Linux knows of this process, under the names that Prometheus' exporters agree on.
struct ProcessFigures {
  /// Bytes of memory that are in RAM.
  var residentBytes: Double
  /// Bytes of address space.
  var virtualBytes: Double
  /// Seconds of processor time, of all threads, in user mode and in the kernel.
  var processorSeconds: Double
  /// When the process began, in seconds since 1970.
  var startTime: Double
  /// File descriptors that are open.
  var openFiles: Double
  /// File descriptors that there may be.
  var maxFiles: Double

  func write(to text: inout String) {
    for (name, kind, value, help) in [
      (
        "process_cpu_seconds_total", MetricFamily.Kind.counter, self.processorSeconds,
        "Processor time of the process, in seconds."
      ),
      ("process_max_fds", .gauge, self.maxFiles, "File descriptors that the process may open."),
      ("process_open_fds", .gauge, self.openFiles, "File descriptors that are open."),
      ("process_resident_memory_bytes", .gauge, self.residentBytes, "Memory in RAM, in bytes."),
      (
        "process_start_time_seconds", .gauge, self.startTime,
        "When the process began, in seconds since 1970."
      ),
      ("process_virtual_memory_bytes", .gauge, self.virtualBytes, "Address space, in bytes."),
    ] {
      let series = MetricValue()
      series.set(value)
      MetricFamily(kind: kind, values: [MetricLabels([]): series])
        .write(to: &text, name: name, help: help)
    }
  }
}

#if canImport(Glibc)
  extension ProcessFigures {
    /// The figures now; `nil` where there is no `/proc`.
    static var current: ProcessFigures? {
      // After the command's name, which may hold anything: proc(5), fields 3 and on.
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
      return ProcessFigures(
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
      // Less `.`, `..` and the folder itself.
      return count - 3
    }

    private static func contents(of path: String) -> String? {
      guard let file = fopen(path, "r") else { return nil }
      defer { fclose(file) }
      var bytes: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 16384)
      while true {
        let count = fread(&part, 1, part.count, file)
        guard count > 0 else { break }
        bytes += part.prefix(count)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#else
  extension ProcessFigures {
    /// There is no `/proc` here.
    static var current: ProcessFigures? { nil }
  }
#endif
