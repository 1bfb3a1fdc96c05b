import BenchmarkClient
import BenchmarkSupport
import Foundation

/// A participant that only pings, in a separate process, as another caller of a busy server does.
/// The busy threads of the sender do not affect it.
struct PingProcess: Sendable {
  /// The process ended without printing times.
  struct Failed: Error, CustomStringConvertible {
    var description: String { "The process that pings ended without its times." }
  }

  /// The option that starts this executable as such a process; its value is the port.
  static let option = "--pinger"

  private static let pingsPerSecond = 100.0

  private let process: Process
  private let output: Pipe

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - warmUp: The time at the start that is not measured.
  ///   - duration: The measured time.
  init(port: Int, warmUp: Duration, duration: Duration) throws {
    self.process = Process()
    self.output = Pipe()
    self.process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    self.process.arguments = [
      Self.option, "\(port)", "\(warmUp / .seconds(1))", "\(duration / .seconds(1))",
    ]
    self.process.standardOutput = self.output
    try self.process.run()
  }

  /// Waits until the process ends.
  ///
  /// - Returns: The times from when a ping was due until its pong arrived.
  func times() throws -> [Duration] {
    let text = String(
      data: self.output.fileHandleForReading.readDataToEndOfFile(), encoding: .utf8)
    self.process.waitUntilExit()
    let times = text?.split(separator: "\n").compactMap { Int64($0) } ?? []
    guard self.process.terminationStatus == 0, !times.isEmpty else { throw Failed() }
    return times.map { .nanoseconds($0) }
  }

  /// Runs in the process: pings, and prints the time per ping in nanoseconds.
  ///
  /// - Parameter arguments: Port, warm-up and duration in seconds.
  static func main(_ arguments: some Sequence<String>) async throws {
    let values = arguments.compactMap(Double.init)
    guard values.count == 3 else {
      throw UsageError(description: "\(Self.option) takes a port and two times.")
    }
    let participant = Participant(Load(pace: .never, pingsPerSecond: Self.pingsPerSecond))
    let start = ContinuousClock.now
    let end = start + .seconds(values[1] + values[2])
    try await Connection.open(to: .loopback(Int(values[0]))) { connection in
      try await participant.run(on: connection) {
        SendSchedule(start: .now, end: end, phase: 0)
      }
    }
    for time in participant.tally(start + .seconds(values[1]) ..< end).pings {
      print(Int64(time / .nanoseconds(1)))
    }
  }
}
