import ArgumentParser
import SidelightClient
import SidelightKernels
import SidelightWire

/// `sidelight load`: measures a server with sessions that send generated pictures.
struct Load: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Load a server with live sessions, and measure latencies and drops.",
    discussion: """
      The summary has the frames of all sessions: those that came back, those that were dropped, by \
      reason, and percentiles of the time from sending to return.

        sidelight load 127.0.0.1:50051 --sessions 16 --fps 30 --pipeline 'gaussianBlur(radius: 8)'
      """)

  @Argument(
    help: ArgumentHelp("Address of the server: HOST:PORT or unix:PATH.", valueName: "address"),
    transform: Address.init(argument:))
  var server: Address

  @Option(help: ArgumentHelp("Number of sessions, 1 to 10000.", valueName: "count"))
  var sessions = 1

  @Option(help: ArgumentHelp("Size of the pictures.", valueName: "widthxheight"))
  var size = FrameSize(width: 1280, height: 720)

  @Option(help: "Format of the pictures.")
  var format = PixelFormat.i420

  @Option(help: ArgumentHelp("Frames per second of a session, 0.1 to 1000.", valueName: "rate"))
  var fps = 30.0

  @OptionGroup var pipeline: PipelineOption

  @Option(help: ArgumentHelp("Time to send for, 0.1 to 86400.", valueName: "seconds"))
  var duration = 10.0

  @Flag(help: "Send pixels inline, also to a server that offers shared memory.")
  var inline = false

  @OptionGroup(title: "Security") var connection: ConnectionOptions

  @Flag(help: "Print JSON to standard output.")
  var json = false

  func validate() throws {
    for (name, value, range) in [
      ("sessions", Double(self.sessions), 1 ... 10000), ("fps", self.fps, 0.1 ... 1000),
      ("duration", self.duration, 0.1 ... 86400),
    ] where !range.contains(value) {
      throw ValidationError(
        "--\(name) is \(value); it must be \(range.lowerBound) to \(range.upperBound).")
    }
  }

  func run() async throws {
    let pipeline = try self.pipeline.parsed()
    let picture = try self.picture()
    let report = StreamReport(isLive: false, start: .now, count: nil)
    var options = SessionOptions(pipeline: pipeline.pipeline, label: "sidelight load")
    if self.inline { options.sharedMemory = nil }
    try await pipeline.locatingRefusals { [options] in
      let errors = try await SidelightClient.connect(
        to: self.server, security: self.connection.security
      ) { client in
        await withTaskGroup(of: (any Error)?.self) { group in
          for index in 0 ..< self.sessions {
            group.addTask {
              do {
                try await client.withSession(options) { session in
                  try await self.run(session, index, picture, report)
                }
                return nil
              } catch {
                return error
              }
            }
          }
          return await group.reduce(into: [] as [any Error]) { errors, error in
            if let error { errors.append(error) }
          }
        }
      }
      // The other sessions were measured.
      if errors.count < self.sessions {
        if self.json { print(try report.json()) } else { report.showSummary() }
      }
      if let error = errors.first { throw error }
    }
  }

  /// Sends frames at the rate, and counts their outcomes.
  private func run(
    _ session: FilterSession, _ index: Int, _ picture: Frame, _ report: StreamReport
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await event in session.events { report.record(event) }
      }
      let interval = Duration.seconds(1 / self.fps)
      // The sessions send at different moments.
      let start = ContinuousClock.now + interval * (Double(index) / Double(self.sessions))
      var count = 0
      while interval * count < .seconds(self.duration) {
        try await Task.sleep(until: start + interval * count, clock: .continuous)
        let time = Int64(interval * count / .nanoseconds(1))
        let frame = VideoFrame(picture, captureTimeNanoseconds: time + 1)
        guard await session.send(frame) != nil else { break }
        count += 1
      }
      session.finish()
      try await group.waitForAll()
    }
  }

  /// A picture with detail.
  private func picture() throws -> Frame {
    let geometry = FrameGeometry(format: self.format, size: self.size)
    let frame: MutableFrame
    do throws(FrameLayoutError) {
      frame = try BufferPool().makeFrame(geometry)
    } catch {
      throw ValidationError("--size \(self.size): \(error)")
    }
    let bytes = frame.buffer.bytes
    for index in 0 ..< frame.layout.byteCount {
      bytes[index] = UInt8(truncatingIfNeeded: index &* index &>> 9 ^ index &* 7)
    }
    return frame.finish()
  }
}
