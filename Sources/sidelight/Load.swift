import ArgumentParser
import SidelightClient
import SidelightCodecs
import SidelightKernels
import SidelightWire
import Synchronization

/// `sidelight load`: measures a server with sessions that send generated pictures.
struct Load: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Load a server with live sessions, and measure latencies and drops.",
    discussion: """
      The summary has the frames of all sessions: those that came back, those that were dropped, by \
      reason, and percentiles of the time from sending to return.

        sidelight load 127.0.0.1:50051 --sessions 16 --fps 30 --pipeline 'gaussianBlur(radius: 8)'

      With --codec all sessions send the same pictures, which are encoded before, and receive \
      results in the same codec.
      """)

  /// The pictures of a loop of encoded video.
  private static let loopLength = 30

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

  @Option(
    help: ArgumentHelp(
      "Send and receive encoded pictures: jpeg, h264, vp8 or vp9.", valueName: "codec"))
  var codec: LoadCodec?

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
    guard self.codec == nil || self.format == .i420 else {
      throw ValidationError("--codec encodes i420; --format is \(self.format.rawValue).")
    }
  }

  func run() async throws {
    let pipeline = try self.pipeline.parsed()
    let pictures = try await self.pictures()
    let report = StreamReport(isLive: false, start: .now, count: nil)
    var options = SessionOptions(pipeline: pipeline.pipeline, label: "sidelight load")
    options.output.format = self.codec?.format
    if self.codec?.video != nil {
      options.output.encoder = EncoderOptions(frameRate: self.encodedRate)
    }
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
                  try await self.run(session, index, pictures, report)
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
    _ session: FilterSession, _ index: Int, _ pictures: [VideoPicture], _ report: StreamReport
  ) async throws {
    let loop = PictureLoop(pictures)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await event in session.events {
          report.record(event)
          if case .keyFrameNeeded = event { loop.restart() }
        }
      }
      let interval = Duration.seconds(1 / self.fps)
      // The sessions send at different moments.
      let start = ContinuousClock.now + interval * (Double(index) / Double(self.sessions))
      var count = 0
      while interval * count < .seconds(self.duration) {
        try await Task.sleep(until: start + interval * count, clock: .continuous)
        let time = Int64(interval * count / .nanoseconds(1))
        let frame = VideoFrame(loop.next(), captureTimeNanoseconds: time + 1)
        guard await session.send(frame) != nil else { break }
        count += 1
      }
      session.finish()
      try await group.waitForAll()
    }
  }

  /// The rate that encoders assume.
  private var encodedRate: Double { min(max(self.fps, 1), 240) }

  /// The pictures that sessions send in turn: one, or a loop of encoded video.
  @concurrent
  private func pictures() async throws -> [VideoPicture] {
    guard let codec else { return [.frame(try self.picture(0))] }
    do {
      guard let video = codec.video, let format = codec.encoded else {
        let encoder = ImageEncoder(.jpeg(quality: 80, subsampling: .quarter))
        return [.jpeg(try encoder.encode(self.picture(0)))]
      }
      // The rate that servers choose for results.
      let bitRate = Double(self.size.pixelCount) * self.encodedRate * 0.09
      let encoder = try VideoEncoder(
        VideoEncoderSettings(
          codec: video, size: self.size, bitRate: Int(min(max(bitRate, 20e3), 100e6)),
          frameRate: self.encodedRate))
      return try (0 ..< Self.loopLength).map { number in
        let time = Duration.seconds(Double(number) / self.encodedRate)
        let bytes = try encoder.withEncoded(
          self.picture(number), forcesKeyFrame: false, at: time
        ) { bytes, _ in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
        return .encoded(EncodedFrame(format, bytes))
      }
    } catch let error as CodecError {
      throw ValidationError("--codec \(codec.rawValue): \(error.message)")
    }
  }

  /// A picture with detail, which moves with its number.
  private func picture(_ number: Int) throws -> Frame {
    let geometry = FrameGeometry(format: self.format, size: self.size)
    let frame: MutableFrame
    do throws(FrameLayoutError) {
      frame = try BufferPool().makeFrame(geometry)
    } catch {
      throw ValidationError("--size \(self.size): \(error)")
    }
    let bytes = frame.buffer.bytes
    let width = self.size.width
    for index in 0 ..< frame.layout.byteCount {
      bytes[index] = UInt8(truncatingIfNeeded: (index % width + 3 * number) ^ (index / width))
    }
    return frame.finish()
  }
}

/// The pictures that a session sends again and again. The first one is a key frame.
private final class PictureLoop: Sendable {
  private let pictures: [VideoPicture]
  private let position = Mutex(0)

  init(_ pictures: [VideoPicture]) { self.pictures = pictures }

  func next() -> VideoPicture {
    self.position.withLock { position in
      defer { position = (position + 1) % self.pictures.count }
      return self.pictures[position]
    }
  }

  func restart() { self.position.withLock { $0 = 0 } }
}

/// A codec of the pictures that `sidelight load` sends.
enum LoadCodec: String, CaseIterable, ExpressibleByArgument {
  case jpeg, h264, vp8, vp9

  /// The codec of video; `nil` for JPEG.
  var video: VideoCodec? { VideoCodec(rawValue: self.rawValue) }

  /// The format of video; `nil` for JPEG.
  var encoded: EncodedFormat? { EncodedFormat(rawValue: self.rawValue) }

  /// The format of results.
  var format: OutputOptions.Format { self.encoded.map { .encoded($0) } ?? .jpeg }
}
