import BenchmarkClient
import BenchmarkSupport
import Foundation

/// A participant who only pings, in a process of its own: what another caller sees of a server whose
/// processors are at work, without the threads of the sender that keeps them so.
struct PingProcess: Sendable {
  /// A process that did not answer with times.
  struct Failed: Error, CustomStringConvertible {
    var description: String { "The process that pings ended without its times." }
  }

  /// The option by which this executable is such a process; its value is the port.
  static let option = "--pinger"

  private static let pingsPerSecond = 100.0

  private let process: Process
  private let output: Pipe

  /// Starts pinging.
  ///
  /// - Parameters:
  ///   - warmUp: What is not measured at first.
  ///   - duration: For how long is measured.
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

  /// Waits for its end.
  ///
  /// - Returns: From each ping's being due until its pong's arrival.
  func times() throws -> [Duration] {
    let text = String(
      data: self.output.fileHandleForReading.readDataToEndOfFile(), encoding: .utf8)
    self.process.waitUntilExit()
    let times = text?.split(separator: "\n").compactMap { Int64($0) } ?? []
    guard self.process.terminationStatus == 0, !times.isEmpty else { throw Failed() }
    return times.map { .nanoseconds($0) }
  }

  /// What the process does: pings, and prints the time of each, in nanoseconds.
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
        Timetable(start: .now, end: end, phase: 0)
      }
    }
    for time in participant.tally(start + .seconds(values[1]) ..< end).pings {
      print(Int64(time / .nanoseconds(1)))
    }
  }
}
