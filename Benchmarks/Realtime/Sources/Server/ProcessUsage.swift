import Foundation

/// The resource usage of a process, from /proc.
struct ProcessUsage: Sendable {
  /// The usage in a span of time.
  struct Span: Sendable {
    private let process: String
    private let first: ProcessUsage
    private let began = ContinuousClock.now
    /// User and system time in the span.
    private var used = Duration.zero
    private var elapsed = Duration.zero
    /// The highest resident memory of all samples, in bytes.
    private(set) var peakMemory: Int

    /// - Parameter process: The process identifier, or `self`.
    init(process: String) {
      self.process = process
      self.first = ProcessUsage(process: process)
      self.peakMemory = self.first.memory
    }

    /// Takes a sample.
    mutating func sample() {
      let now = ProcessUsage(process: self.process)
      self.elapsed = .now - self.began
      self.used = now.processorTime - self.first.processorTime
      self.peakMemory = max(self.peakMemory, now.memory)
    }

    /// Adds another span of the same process.
    mutating func add(_ other: Span) {
      self.elapsed += other.elapsed
      self.used += other.used
      self.peakMemory = max(self.peakMemory, other.peakMemory)
    }

    /// The fraction of one processor that the process used.
    var processors: Double { self.used / self.elapsed }
  }

  /// User and system time.
  let processorTime: Duration
  /// Resident memory in bytes.
  let memory: Int

  init(process: String) {
    // The name of the program is in brackets and may contain spaces; the numbers follow it.
    let fields = Self.read("/proc/\(process)/stat").split(separator: ")").last?.split(
      separator: " ")
    let ticks = [11, 12].compactMap { fields.flatMap { $0.count > 12 ? $0 : nil }?[$0] }
      .compactMap { Int($0) }.reduce(0, +)
    self.processorTime = .seconds(1) * ticks / Int(sysconf(Int32(_SC_CLK_TCK)))
    let resident = Self.read("/proc/\(process)/status").split(separator: "\n")
      .first { $0.hasPrefix("VmRSS:") }
    self.memory = (resident?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
  }

  private static func read(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }
}
