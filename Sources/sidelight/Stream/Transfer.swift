import ArgumentParser
import SidelightClient
import SidelightCodecs
import SidelightKernels
import SidelightWire

/// The server cannot decode the video as it is encoded.
struct UndecodableVideo: Error {}

/// A video on its way through a session of `sidelight stream`.
struct Transfer: Sendable {
  /// The frames from a key frame of a result to the next: a player can start at any of them.
  private static let keyFrameInterval = 250

  let command: Stream
  let first: PipelineText
  let changes: [TimedPipeline]
  let source: MediaSource?
  let properties: VideoProperties?
  let container: VideoContainer?

  private var isLive: Bool { self.source?.kind == .live }

  /// Filters the video, and writes the file.
  ///
  /// - Parameter sendsEncoded: Whether frames are sent as they are encoded.
  /// - Throws: ``UndecodableVideo`` if the server cannot decode them.
  func run(sendsEncoded: Bool) async throws {
    let command = self.command
    let input: any VideoInput =
      if let source, let properties {
        try await ContainerInput(
          source, properties, isEncoded: sendsEncoded, duration: command.duration)
      } else {
        try Y4MInput(path: command.input, duration: command.duration)
      }
    let report = StreamReport(
      isLive: FileDescriptorOutput.standardError.isTerminal, start: .now, count: input.count)
    try await OutputFile.write(path: command.output, onInterruption: { report.showSummary() }) {
      file in
      let output = self.output(to: file, of: input)
      try await self.first.locatingRefusals {
        try await SidelightClient.connect(
          to: command.server, security: command.connection.security
        ) { client in
          try await client.withSession(self.options(for: input)) { session in
            try await withThrowingTaskGroup(of: Void.self) { group in
              group.addTask { try await self.send(input, to: session) }
              group.addTask {
                try await self.receive(session, into: output, report, sendsEncoded)
              }
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

  private func output(to file: FileDescriptorOutput, of input: any VideoInput) -> any VideoOutput {
    guard let container else { return Y4MOutput(file, header: input.header) }
    var settings = ContainerOutput.Settings(container: container, timeBase: input.timeBase)
    settings.pixelAspect = input.header.pixelAspect
    settings.matrix = self.properties?.matrix
    settings.duration = self.command.duration
    if let source, let properties, source.kind == .file {
      settings.audio = (source, properties.start)
    }
    return ContainerOutput(file, settings)
  }

  private func options(for input: any VideoInput) -> SessionOptions {
    let command = self.command
    var output = OutputOptions()
    if let codec = command.codec {
      output = OutputOptions(
        format: .encoded(codec.format),
        encoder: EncoderOptions(
          bitRate: command.bitRate?.bitsPerSecond,
          frameRate: input.header.frameRate.map { min(max($0.value, 1), 240) },
          keyFrameInterval: Self.keyFrameInterval))
    }
    return SessionOptions(
      pipeline: self.first.pipeline,
      dropPolicy: command.realtime || self.isLive ? .newestWins : .neverDrop,
      label: self.source?.label ?? command.input, participant: command.participant.name,
      output: output,
      reconnect: command.reconnect ? ReconnectPolicy(failOpen: .nothing) : nil)
  }

  /// Sends the frames, with `--realtime` at their own times, and changes the pipeline between them.
  private func send(_ input: any VideoInput, to session: FilterSession) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    var changes = self.changes[...]
    while let next = try await input.next() {
      if self.command.realtime, !self.isLive { try await clock.sleep(until: start + next.time) }
      while let change = changes.first, change.time <= next.time {
        session.select(text: change.text.text, transition: self.command.transition)
        changes.removeFirst()
      }
      let frame = VideoFrame(
        next.picture, captureTimeNanoseconds: Int64((next.time / .nanoseconds(1)).rounded()))
      guard await session.send(frame) != nil else { return }
    }
    session.finish()
  }

  private func receive(
    _ session: FilterSession, into output: any VideoOutput, _ report: StreamReport,
    _ sendsEncoded: Bool
  ) async throws {
    for try await event in session.events {
      report.record(event)
      report.showProgress()
      switch event {
      case .outcome(.filtered(let frame)):
        try await output.write(
          frame.picture, at: .nanoseconds(frame.captureTimeNanoseconds))
      case .outcome(.dropped(let frame)):
        if sendsEncoded, [.invalidFrame, .notDecodable].contains(frame.reason) {
          throw UndecodableVideo()
        }
        try await output.writeDropped()
      case .rejected(let change): throw ValidationError(change, among: self.changes)
      default: break
      }
    }
  }
}
