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

      A file gets its name when it is complete. Ctrl-C discards it, and prints the summary; a pipe \
      keeps what was written.

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

  func run() async throws {
    let first = try self.pipeline.parsed()
    let changes = try self.changes.map { try $0.parsed() }.sorted { $0.time < $1.time }
    try FileIdentity.check(output: self.output, differsFrom: [self.input])
    let input = try Y4MInput(path: self.input)
    let report = StreamReport(
      isLive: FileDescriptorOutput.standardError.isTerminal, start: .now)
    let options = SessionOptions(
      pipeline: first.pipeline, dropPolicy: self.realtime ? .newestWins : .neverDrop,
      label: self.input, participant: self.participant.name,
      reconnect: self.reconnect ? ReconnectPolicy(failOpen: .nothing) : nil)
    try await OutputFile.write(path: self.output, onInterruption: { report.showSummary() }) {
      file in
      let output = Y4MOutput(file, header: input.header)
      try await first.locatingRefusals {
        try await SidelightClient.connect(
          to: self.server, security: self.connection.security
        ) { client in
          try await client.withSession(options) { session in
            try await withThrowingTaskGroup(of: Void.self) { group in
              group.addTask { try await self.send(input, changes, to: session) }
              group.addTask { try await Self.receive(session, changes, into: output, report) }
              // A failure of either task cancels the other.
              while try await group.next() != nil {}
            }
          }
        }
      }
      try await output.finish()
    }
    report.showSummary()
  }

  /// Sends the frames; with `--realtime`, at their own times.
  private func send(
    _ input: Y4MInput, _ changes: [TimedPipeline], to session: FilterSession
  ) async throws {
    if self.realtime {
      let ticks = AsyncTimerSequence.repeating(every: input.frameDuration)
      try await self.send(
        zip(input, ticks).map { $0.0 }, changes, at: input.time(ofFrame:), to: session)
    } else {
      try await self.send(input, changes, at: input.time(ofFrame:), to: session)
    }
    session.finish()
  }

  /// Sends the frames, and changes the pipeline between them.
  private func send(
    _ pictures: some AsyncSequence<Frame, any Error>, _ changes: [TimedPipeline],
    at time: (Int) -> Duration, to session: FilterSession
  ) async throws {
    var changes = changes[...]
    var index = 0
    for try await picture in pictures {
      let time = time(index)
      while let change = changes.first, change.time <= time {
        session.select(text: change.text.text, transition: self.transition)
        changes.removeFirst()
      }
      let frame = VideoFrame(
        picture, captureTimeNanoseconds: Int64(time / .nanoseconds(1)))
      guard await session.send(frame) != nil else { return }
      index += 1
    }
  }

  private static func receive(
    _ session: FilterSession, _ changes: [TimedPipeline], into output: Y4MOutput,
    _ report: StreamReport
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
      case .rejected(let change): throw ValidationError(change, among: changes)
      default: break
      }
    }
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
