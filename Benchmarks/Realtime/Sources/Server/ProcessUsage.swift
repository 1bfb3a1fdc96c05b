import Foundation

/// What a process uses, as /proc tells.
struct ProcessUsage: Sendable {
  /// What it uses from one time to another.
  struct Span: Sendable {
    private let process: String
    private let first: ProcessUsage
    private let began = ContinuousClock.now
    private var last: ProcessUsage
    private var ended = ContinuousClock.now
    /// The most memory that was resident at a sample, in bytes.
    private(set) var peakMemory: Int

    /// - Parameter process: Its number, or `self`.
    init(process: String) {
      self.process = process
      self.first = ProcessUsage(process: process)
      self.last = self.first
      self.peakMemory = self.first.memory
    }

    /// Looks again.
    mutating func sample() {
      self.last = ProcessUsage(process: self.process)
      self.ended = .now
      self.peakMemory = max(self.peakMemory, self.last.memory)
    }

    /// The part of one processor that it used.
    var processors: Double {
      (self.last.processorTime - self.first.processorTime) / (self.ended - self.began)
    }
  }

  /// User and system time.
  let processorTime: Duration
  /// Resident, in bytes.
  let memory: Int

  init(process: String) {
    // The name of the program stands in brackets and may hold spaces; the numbers follow it.
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
