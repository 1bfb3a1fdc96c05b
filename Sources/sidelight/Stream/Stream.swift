import ArgumentParser
import SidelightKernels
import SidelightWire

/// `sidelight stream`: filters a video on a server.
struct Stream: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Filter a video on a server.",
    discussion: """
      Reads and writes Y4M, and other formats through ffmpeg where it is installed: MP4, MOV, \
      Matroska and WebM, and as input also MPEG-TS, AVI, FLV, Ogg, an RTSP server and a camera. \
      Times are kept, audio is copied from files, and rotation is applied.

        sidelight stream in.mp4 out.mp4 --server 127.0.0.1:50051 --pipeline 'sepiaTone'
        sidelight stream rtsp://camera/1 out.mkv --duration 60 --server 127.0.0.1:50051
        sidelight stream /dev/video0 - --server 127.0.0.1:50051 | ffplay -

      With --codec pictures travel as encoded video, as over a link without room for samples: the \
      server encodes the result. Video that it decodes is sent as it is; other video, and video in \
      real time, as samples.

        sidelight stream in.mp4 out.webm --codec vp8 --bit-rate 2M --server 127.0.0.1:50051

      Without --realtime every frame is filtered, in order, as fast as possible. With it frames \
      are sent at the frame rate of the video, as from a camera; late frames are dropped and \
      reported. Y4M repeats the previous frame, and other formats show it longer, so that the \
      output keeps its length. Cameras and RTSP servers are always real time.

      A file gets its name when it is complete. Ctrl-C discards it, and prints the summary; a pipe \
      keeps what was written.

      A server cannot read local files. Upload stickers and backgrounds first:

        sidelight assets put hat hat.png --server 127.0.0.1:50051
        sidelight stream in.y4m out.y4m --server 127.0.0.1:50051 \\
          --pipeline 'overlay(asset: hat, anchor: forehead)'
      """)

  @Argument(
    help: "Video to read: a file, rtsp://…, or /dev/video…; - is Y4M from standard input.",
    completion: .file())
  var input = "-"

  @Argument(
    help: "The .y4m, .mp4, .m4v, .mov, .mkv or .webm file to write; - is Y4M to standard output.",
    completion: .file())
  var output = "-"

  @OptionGroup var pipeline: PipelineOption

  @Option(
    name: .customLong("pipeline-at"),
    help: ArgumentHelp(
      "Change the pipeline at this time of the video. May be repeated.",
      valueName: "seconds=text"),
    transform: TimedText.init(argument:))
  var changes: [TimedText] = []

  @Option(
    help: ArgumentHelp(
      "Change pipelines gradually: the seconds of a fade, or of 'wipe=0.5' or 'dissolve=0.5'.",
      valueName: "transition"),
    transform: PipelineTransition.init(argument:))
  var transition: PipelineTransition?

  @Option(
    help: ArgumentHelp("Address of the server: HOST:PORT or unix:PATH.", valueName: "address"),
    transform: Address.init(argument:))
  var server: Address

  @OptionGroup var participant: ParticipantOption

  @OptionGroup(title: "Security") var connection: ConnectionOptions

  @Flag(help: "Send frames at the frame rate of the video, and drop late ones.")
  var realtime = false

  @Flag(
    help: """
      Reconnect to the same address after a lost connection, with the pipeline that was in force. \
      Lost frames are counted.
      """)
  var reconnect = false

  @Option(
    help: ArgumentHelp("End after this time of the video.", valueName: "seconds"),
    transform: Duration.init(seconds:))
  var duration: Duration?

  @Option(
    help: ArgumentHelp(
      "Exchange encoded video with the server: h264, vp8 or vp9, as the output has it.",
      valueName: "codec"))
  var codec: StreamCodec?

  @Option(
    help: ArgumentHelp(
      "Bit rate of the result with --codec: 2M, 800k. (default: by size and frame rate)",
      valueName: "rate"),
    transform: BitRate.init(argument:))
  var bitRate: BitRate?

  func run() async throws {
    let first = try self.pipeline.parsed()
    let changes = try self.changes.map { try $0.parsed() }.sorted { $0.time < $1.time }
    try FileIdentity.check(output: self.output, differsFrom: [self.input])
    let container = try VideoContainer(output: self.output)
    try self.checkCodec(for: container)
    let source = try MediaSource(input: self.input)
    if source != nil || container != nil { try await FFmpegTool.ffmpeg.check() }
    let properties: VideoProperties? =
      if let source { try await VideoProperties(of: source) } else { nil }
    // Frames that are dropped on the way would damage encoded video.
    let sendsEncoded =
      self.codec != nil && !self.realtime && source?.kind == .file
      && properties?.encodedFormat != nil
    let stream = Transfer(
      command: self, first: first, changes: changes, source: source, properties: properties,
      container: container)
    do {
      try await stream.run(sendsEncoded: sendsEncoded)
    } catch is UndecodableVideo {
      try await stream.run(sendsEncoded: false)
    }
  }

  /// Checks that the container holds the codec.
  ///
  /// - Throws: `ValidationError`.
  private func checkCodec(for container: VideoContainer?) throws {
    guard let codec else {
      guard self.bitRate == nil else { throw ValidationError("--bit-rate requires --codec.") }
      return
    }
    guard let container else {
      throw ValidationError("--codec requires a container; '\(self.output)' is Y4M.")
    }
    guard container.codecs.contains(codec.format) else {
      let codecs = container.codecs.map(\.rawValue).joined(separator: " or ")
      throw ValidationError(
        "--codec is \(codec.rawValue); .\(container) holds \(codecs).")
    }
  }
}

/// A codec of the results.
enum StreamCodec: String, CaseIterable, ExpressibleByArgument {
  case h264, vp8, vp9

  var format: EncodedFormat {
    switch self {
    case .h264: .h264
    case .vp8: .vp8
    case .vp9: .vp9
    }
  }
}

/// The value of `--bit-rate`.
struct BitRate: Hashable {
  let bitsPerSecond: Int

  /// Parses `800k`, `2.5M` or `2500000`.
  ///
  /// - Throws: `ValidationError`.
  init(argument: String) throws {
    let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6]
    let factor = argument.last.flatMap { factors[$0] }
    let number = factor == nil ? argument[...] : argument.dropLast()
    guard let value = Double(number), (20e3 ... 100e6).contains(value * (factor ?? 1)) else {
      throw ValidationError("'\(argument)' is not a bit rate from 20k to 100M")
    }
    self.bitsPerSecond = Int(value * (factor ?? 1))
  }
}

extension Duration {
  /// Parses a number of seconds.
  ///
  /// - Throws: `ValidationError` unless it is more than 0.
  fileprivate init(seconds argument: String) throws {
    guard let seconds = Double(argument), seconds > 0, seconds < 1e9 else {
      throw ValidationError("'\(argument)' is not a time in seconds")
    }
    self = .seconds(seconds)
  }
}

/// A change of the pipeline at a point in the video: `2.5=gaussianBlur(radius: 8)`.
struct TimedPipeline: Sendable {
  /// The time from the start of the video.
  let time: Duration
  let text: PipelineText
}

/// The value of `--pipeline-at`, whose pipeline is not parsed yet.
struct TimedText: Sendable {
  private let time: Duration
  private let pipeline: String

  /// Parses the time of an argument.
  ///
  /// - Throws: `ValidationError`.
  init(argument: String) throws {
    guard let separator = argument.firstIndex(of: "=") else {
      throw ValidationError("expected SECONDS=TEXT")
    }
    let time = argument[..<separator]
    guard let seconds = Double(time), seconds.isFinite, seconds >= 0 else {
      throw ValidationError("'\(time)' is not a time in seconds")
    }
    self.time = .seconds(seconds)
    self.pipeline = String(argument[argument.index(after: separator)...])
  }

  /// Parses the pipeline.
  ///
  /// - Throws: `ValidationError` with the position of the error.
  func parsed() throws -> TimedPipeline {
    TimedPipeline(time: self.time, text: try PipelineText(argument: self.pipeline))
  }
}

extension PipelineTransition {
  /// Parses `0.5` (a fade of half a second), `wipe=0.5` or `dissolve=0.5`.
  ///
  /// - Throws: `ValidationError` for other texts, and for durations outside the limits.
  init(argument: String) throws {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let kind = parts.count == 2 ? parts[0] : "fade"
    guard let seconds = Double(parts[parts.count - 1]), seconds > 0,
      seconds <= PipelineTransition.maxDuration / .seconds(1)
    else {
      throw ValidationError(
        "'\(parts[parts.count - 1])' is not a duration; it must be more than 0 and at most "
          + "\(PipelineTransition.maxDuration)")
    }
    let style: Style? =
      switch kind {
      case "fade": .fade
      case "wipe": .wipe()
      case "dissolve": .dissolve()
      default: nil
      }
    guard let style else {
      throw ValidationError("'\(kind)' is not a transition; it must be fade, wipe or dissolve")
    }
    self.init(.seconds(seconds), style: style)
  }
}
