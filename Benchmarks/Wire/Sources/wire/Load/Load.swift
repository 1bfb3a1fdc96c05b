import BenchmarkClient
import BenchmarkSupport
import SidelightClient

/// Sessions that send the same frame repeatedly.
struct Load {
  /// The results.
  struct Figures: Encodable {
    /// The returned frames.
    var frames: Int
    var seconds: Double
    /// Microseconds from when the client had a frame until it returned.
    var p50Us: Double
    var p99Us: Double
    /// The median of the server's work on a frame, as it reports it, in microseconds.
    var workUs: Double
    /// The frames of the run that did not return.
    var dropped: Int
    /// The returned frames of the sessions with the fewest and the most.
    var least: Int
    var most: Int
  }

  private let options: LoadOptions
  private let picture: Frame
  private let recorders: [SessionRecorder]
  private let barrier: SessionBarrier

  init(_ options: LoadOptions) throws {
    self.options = options
    self.picture = try Picture.make(options.geometry, pool: BufferPool())
    self.recorders = (0 ..< options.streams).map { _ in SessionRecorder() }
    self.barrier = SessionBarrier(streams: options.streams)
  }

  /// Prints `begin` and `end` at the start and the end of the measurement, then the figures.
  func run() async throws {
    let figures = try await withThrowingTaskGroup(of: Figures?.self) { group in
      switch self.options.client {
      case .library: self.startLibrarySessions(&group)
      case .generated: try self.startGeneratedSessions(&group)
      }
      group.addTask { try await self.measure() }
      var figures: Figures?
      while let result = try await group.next() { figures = result ?? figures }
      return figures
    }
    try Output.finish(figures)
  }

  private func measure() async throws -> Figures {
    await self.barrier.waitUntilOpen()
    try await Task.sleep(for: self.options.warmUp)
    StandardOutput.printLine("begin")
    let begin = ContinuousClock.now
    try await Task.sleep(for: self.options.duration)
    let end = ContinuousClock.now
    StandardOutput.printLine("end")
    self.barrier.end()
    let arrivals = self.recorders.map { $0.arrivals(begin ..< end) }
    let all = arrivals.flatMap(\.self)
    let roundTrips = all.map(\.roundTrip)
    return Figures(
      frames: all.count, seconds: (end - begin) / .seconds(1),
      p50Us: roundTrips.percentile(50).microseconds, p99Us: roundTrips.percentile(99).microseconds,
      workUs: all.map(\.work).percentile(50).microseconds,
      dropped: self.recorders.reduce(0) { $0 + $1.dropped },
      least: arrivals.map(\.count).min() ?? 0, most: arrivals.map(\.count).max() ?? 0)
  }

  private func startLibrarySessions(_ group: inout ThrowingTaskGroup<Figures?, any Error>) {
    group.addTask {
      var transport = TransportConfiguration()
      transport.connections = self.options.connections
      try await SidelightClient.connect(to: self.options.address, transport: transport) { client in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (index, recorder) in self.recorders.enumerated() {
            let session = LibrarySession(
              options: self.options, picture: self.picture, recorder: recorder,
              barrier: self.barrier,
              phase: Double(index) / Double(self.recorders.count))
            group.addTask { try await session.run(client) }
          }
          while try await group.next() != nil {}
        }
      }
      return nil
    }
  }

  private func startGeneratedSessions(
    _ group: inout ThrowingTaskGroup<Figures?, any Error>
  ) throws {
    let session = try GeneratedSession(
      options: self.options, picture: self.picture, barrier: self.barrier)
    let connections = self.options.connections ?? self.recorders.count
    for first in 0 ..< connections {
      let recorders = stride(from: first, to: self.recorders.count, by: connections).map {
        self.recorders[$0]
      }
      group.addTask {
        try await Connection.open(to: self.options.address) { connection in
          try await withThrowingTaskGroup(of: Void.self) { group in
            for recorder in recorders {
              group.addTask { try await session.run(on: connection, recorder) }
            }
            while try await group.next() != nil {}
          }
        }
        return nil
      }
    }
  }
}
