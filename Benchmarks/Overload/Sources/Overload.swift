import Foundation
import SidelightClient
import SidelightServer

/// A sender that is three times as fast as its pipeline: frames at 60 a second against a filter that
/// takes 50 ms, over TCP on loopback. Prints what became of the frames, how old the outputs were, and
/// how the memory of the process (server and client) went.
///
///     overload [SECONDS]     default 20
@main
struct Overload {
  static let rate = 60
  static let work = 0.050

  static func main() async throws {
    let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("slow", "Takes 50 ms.", frame: slow))
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    let server = SidelightServer(configuration: configuration, catalogue: catalogue)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try? await server.run() }
      let address = try await server.listeningAddresses[0]
      try await SidelightClient.connect(to: address) { client in
        try await run(client, frames: seconds * rate)
      }
      group.cancelAll()
    }
  }

  static func run(_ client: SidelightClient, frames: Int) async throws {
    let pool = BufferPool()
    let geometry = FrameGeometry(format: .i420, size: FrameSize(width: 1280, height: 720))
    try await client.withSession(SessionOptions(pipeline: [.filter("slow")])) { session in
      async let sending: Void = {
        let clock = ContinuousClock()
        let start = clock.now
        for index in 0 ..< frames {
          try await clock.sleep(until: start + .seconds(1) * index / rate)
          await session.send(VideoFrame(try pool.makeFrame(geometry).finish()))
        }
        session.finish()
      }()
      var report = Report()
      for try await event in session.events { report.note(event) }
      try await sending
      report.show(sent: frames)
    }
  }

  static func slow(_ input: Frame, _ output: inout MutableFrame, _: FrameMoment) {
    // Work that takes its time by the clock, so that the load is the same on every machine.
    Thread.sleep(forTimeInterval: work)
  }
}

/// What became of the frames.
struct Report {
  private var made = 0
  private var dropped: [DroppedFrame.Reason: Int] = [:]
  private var ages: [Duration] = []
  private var tooOld: [UInt64] = []
  private var memory: [Int] = []
  private var counts: SessionCounts?

  mutating func note(_ event: SessionEvent) {
    switch event {
    case .outcome(.made(let frame)):
      self.made += 1
      self.ages.append(frame.roundTripTime)
      if frame.roundTripTime > .seconds(2 * Overload.work) { self.tooOld.append(frame.sequence) }
      if self.made.isMultiple(of: 20) { self.memory.append(Self.residentKiB) }
    case .outcome(.dropped(let frame)): self.dropped[frame.reason, default: 0] += 1
    case .finalCounts(let counts): self.counts = counts
    default: break
    }
  }

  func show(sent: Int) {
    let droppedSum = self.dropped.values.reduce(0, +)
    print("sent \(sent); made \(self.made); dropped \(droppedSum); sum \(self.made + droppedSum)")
    for (reason, count) in self.dropped.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      print("  \(reason.rawValue) \(count)")
    }
    if let counts {
      print(
        "server: received \(counts.received), filtered \(counts.filtered), dropped \(counts.dropped)"
      )
    }
    let sorted = self.ages.sorted()
    guard !sorted.isEmpty else { return }
    for percent in [50, 95, 99, 100] {
      let age = sorted[(sorted.count - 1) * percent / 100] / .milliseconds(1)
      print("age p\(percent) \(String(format: "%.1f", age)) ms")
    }
    print("older than two frames' work: \(self.tooOld)")
    print("resident MiB, each 20 frames made: \(self.memory.map { $0 / 1024 })")
  }

  private static var residentKiB: Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
    else { return 0 }
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }
}
