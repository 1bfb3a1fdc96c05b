import BenchmarkSupport
import SidelightClient

/// Sessions that open sequentially, over one connection, and send one frame.
struct FirstFrames {
  /// The results, in microseconds and in the order of the sessions.
  struct Figures: Encodable {
    /// From the request until the session is open.
    var openUs: [Double] = []
    /// From sending the first frame until its picture is back.
    var firstUs: [Double] = []
    /// The same for the second frame: the difference is the plan and its buffers.
    var secondUs: [Double] = []
    /// The first frame's time in the server: the wait for its turn, and its work.
    var serverUs: [Double] = []
  }

  private let options: LoadOptions

  init(_ options: LoadOptions) {
    self.options = options
  }

  /// Prints `begin` and `end` at the start and the end of the measurement, then the figures.
  func run() async throws {
    let picture = try Picture.make(self.options.geometry, pool: BufferPool())
    var transport = TransportConfiguration()
    transport.connections = 1
    let figures = try await SidelightClient.connect(
      to: self.options.address, transport: transport
    ) { client in
      // Opens the connection.
      var unmeasured = Figures()
      try await self.open(client, picture, &unmeasured)
      StandardOutput.printLine("begin")
      var figures = Figures()
      for _ in 0 ..< self.options.streams { try await self.open(client, picture, &figures) }
      StandardOutput.printLine("end")
      return figures
    }
    try Output.finish(figures)
  }

  private func open(
    _ client: SidelightClient, _ picture: Frame, _ figures: inout Figures
  ) async throws {
    let session = SessionOptions(
      pipeline: self.options.work.pipeline, dropPolicy: .neverDrop, allowUnmodified: false,
      sharedMemory: self.options.sharedMemory ? SharedMemoryOptions() : nil)
    let begin = ContinuousClock.now
    let times = try await client.withSession(session) { session in
      let opened = ContinuousClock.now
      var outcomes = session.outcomes.makeAsyncIterator()
      var times: [(elapsed: Duration, server: Duration)] = []
      for _ in 0 ..< 2 {
        let sent = ContinuousClock.now
        await session.send(VideoFrame(picture))
        guard case .filtered(let frame)? = try await outcomes.next() else { throw WrongPicture() }
        times.append((ContinuousClock.now - sent, frame.queueTime + frame.processTime))
      }
      return (open: opened - begin, frames: times)
    }
    figures.openUs.append(times.open.microseconds)
    figures.firstUs.append(times.frames[0].elapsed.microseconds)
    figures.secondUs.append(times.frames[1].elapsed.microseconds)
    figures.serverUs.append(times.frames[0].server.microseconds)
  }
}
