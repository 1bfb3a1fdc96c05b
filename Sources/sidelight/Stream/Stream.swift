import ArgumentParser
import AsyncAlgorithms
import SidelightClient
import SidelightKernels
import SidelightWire

/// `sidelight stream`: filters a Y4M video on a server.
struct Stream: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Filter a video on a server.",
    discussion: """
      Reads and writes Y4M; convert other formats with ffmpeg:

        ffmpeg -i in.mp4 -f yuv4mpegpipe - \\
          | sidelight stream - - --server 127.0.0.1:50051 --pipeline 'sepiaTone' \\
          | ffmpeg -i - out.mp4

      Without --realtime every frame is filtered, in order, as fast as possible. With it frames \
      are sent at the frame rate of the video, as from a camera; late frames are dropped and \
      reported, and the previous frame is repeated, so that the output keeps its length.

      A server cannot read local files. Upload stickers and backgrounds first:

        sidelight assets put hat hat.png --server 127.0.0.1:50051
        sidelight stream in.y4m out.y4m --server 127.0.0.1:50051 \\
          --pipeline 'overlay(asset: hat, anchor: forehead)'
      """)

  @Argument(help: "Y4M file to read; - is standard input.", completion: .file())
  var input = "-"

  @Argument(help: "Y4M file to write; - is standard output.", completion: .file())
  var output = "-"

  @OptionGroup var pipeline: PipelineOption

  @Option(
    name: .customLong("pipeline-at"),
    help: ArgumentHelp(
      "Change the pipeline at this time of the video. May be repeated.",
      valueName: "seconds=text"),
    transform: TimedPipeline.init(argument:))
  var changes: [TimedPipeline] = []

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

  func run() async throws {
    let first = try self.pipeline.parsed().pipeline
    let input = try Y4MInput(path: self.input)
    let output = try Y4MOutput(path: self.output, header: input.header)
    let report = StreamReport(
      isLive: FileDescriptorOutput.standardError.isTerminal, start: .now)
    let options = SessionOptions(
      pipeline: first, dropPolicy: self.realtime ? .newestWins : .neverDrop, label: self.input,
      participant: self.participant.name,
      reconnect: self.reconnect ? ReconnectPolicy(failOpen: .nothing) : nil)
    let pipelines = Pipeline(stages: ([first] + self.changes.map(\.pipeline)).flatMap(\.stages))
    try await pipelines.explainingAssets {
      try await SidelightClient.connect(
        to: self.server, security: self.connection.security
      ) { client in
        try await client.withSession(options) { session in
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.send(input, to: session) }
            group.addTask { try await Self.receive(session, into: output, report) }
            // A failure of either task cancels the other.
            while try await group.next() != nil {}
          }
        }
      }
    }
    try await output.finish()
    report.showSummary()
  }

  /// Sends the frames, with `--realtime` each at its time.
  private func send(_ input: Y4MInput, to session: FilterSession) async throws {
    if self.realtime {
      let ticks = AsyncTimerSequence.repeating(every: input.frameDuration)
      try await self.send(zip(input, ticks).map { $0.0 }, at: input.time(ofFrame:), to: session)
    } else {
      try await self.send(input, at: input.time(ofFrame:), to: session)
    }
    session.finish()
  }

  /// Sends the frames, and changes the pipeline between them.
  private func send(
    _ pictures: some AsyncSequence<Frame, any Error>, at time: (Int) -> Duration,
    to session: FilterSession
  ) async throws {
    var changes = self.changes.sorted { $0.time < $1.time }[...]
    var index = 0
    for try await picture in pictures {
      let time = time(index)
      while let change = changes.first, change.time <= time {
        session.select(change.pipeline, transition: self.transition)
        changes.removeFirst()
      }
      let frame = VideoFrame(
        picture, captureTimeNanoseconds: Int64(time / .nanoseconds(1)))
      guard await session.send(frame) != nil else { return }
      index += 1
    }
  }

  private static func receive(
    _ session: FilterSession, into output: Y4MOutput, _ report: StreamReport
  ) async throws {
    var last: Frame?
    for try await event in session.events {
      report.record(event)
      report.showProgress()
      switch event {
      case .outcome(.filtered(let frame)):
        guard let picture = frame.picture.frame else { break }
        last = picture
        try await output.write(picture)
      case .outcome(.dropped):
        if let last { try await output.write(last) }
      case .rejected(let change):
        throw RefusedPipelineError(reason: change.message)
      default: break
      }
    }
  }
}

/// A change of the pipeline at a time of the video: `2.5=gaussianBlur(radius: 8)`.
struct TimedPipeline: Sendable {
  /// The time from the start of the video.
  let time: Duration
  let pipeline: Pipeline

  /// Parses an argument.
  ///
  /// - Throws: `ValidationError`, with the position of an error in the pipeline.
  init(argument: String) throws {
    guard let separator = argument.firstIndex(of: "=") else {
      throw ValidationError("expected SECONDS=TEXT")
    }
    let time = argument[..<separator]
    guard let seconds = Double(time), seconds.isFinite, seconds >= 0 else {
      throw ValidationError("'\(time)' is not a time in seconds")
    }
    self.time = .seconds(seconds)
    self.pipeline =
      try PipelineText(argument: String(argument[argument.index(after: separator)...])).pipeline
  }
}

/// The refusal of a pipeline by the server during a stream.
struct RefusedPipelineError: Error, CustomStringConvertible {
  /// The server's reason.
  let reason: String

  var description: String { "The server refused a pipeline: \(self.reason)" }
}
