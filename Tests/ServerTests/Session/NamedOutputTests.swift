import GRPCCore
import InMemoryTracing
import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Named outputs of a session over real HTTP/2, by a client that uses only generated code.
@Suite(.timeLimit(.minutes(5))) struct NamedOutputTests {
  static let look: Pipeline = [.filter("sepiaTone"), .filter("gaussianBlur")]

  static func image(_ sequence: UInt64, _ format: PixelFormat = .bgra8) -> Sidelight_V1_Image {
    .noise(format, 48, 32, seed: sequence)
  }

  static func output(
    _ name: String, _ pipeline: Pipeline = [], maxFPS: Double = 0,
    _ configure: (inout Sidelight_V1_OutputSpec) -> Void = { _ in }
  ) -> Sidelight_V1_Output {
    .with {
      $0.name = name
      $0.pipeline = Sidelight_V1_Pipeline(pipeline)
      $0.maxFps = maxFPS
      configure(&$0.output)
    }
  }

  /// Returns the messages of a session that sends images, numbered from 1.
  static func converse(
    _ open: Sidelight_V1_ClientMessage, _ images: [Sidelight_V1_Image], tracer: W3CTracer? = nil
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let frames = images.enumerated().map {
      Sidelight_V1_ClientMessage.frame(UInt64($0.offset + 1), $0.element)
    }
    return try await withServer(tracer: tracer) { _, address in
      try await withStub(address) { try await $0.converse([open] + frames) }
    }
  }

  /// Sends frames one at a time: the next one follows when the session and the named outputs have
  /// answered. Acknowledges the frames of these outputs.
  ///
  /// - Parameter before: Called before a frame is sent, with its number.
  static func converseInTurn(
    _ stub: Stub, _ open: Sidelight_V1_ClientMessage, frames: UInt64,
    awaiting names: Set<String>,
    before: @escaping @Sendable (UInt64) async throws -> Void = { _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let (messages, sending) = AsyncStream<Sidelight_V1_ClientMessage>.makeStream()
    return try await stub.process(options: largeMessages) { writer in
      for await message in messages { try await writer.write(message) }
    } onResponse: { response in
      defer { sending.finish() }
      var answers: [Sidelight_V1_ServerMessage] = []
      var (sequence, awaited): (UInt64, Set<String>) = (0, [])
      sending.yield(open)
      for try await message in response.messages {
        answers.append(message)
        switch message.kind {
        case .frame(let frame)?:
          if names.contains(frame.output) {
            sending.yield(
              .with {
                $0.ack.output = frame.output
                $0.ack.sequence = frame.sequence
              })
          }
          if frame.sequence == sequence { awaited.remove(frame.output) }
        case .dropped(let run)? where run.output.isEmpty: awaited = []
        case .opened?: break
        default: continue
        }
        guard awaited.isEmpty, sequence <= frames else { continue }
        sequence += 1
        awaited = names.union([""])
        guard sequence <= frames else {
          sending.finish()
          continue
        }
        try await before(sequence)
        sending.yield(.frame(sequence, Self.image(sequence)))
      }
      return answers
    }
  }

  // MARK: Results

  @Test(arguments: [PixelFormat.bgra8, .i420, .nv12])
  func `outputs equal separate sessions, and sessions that filter the session's results`(
    format: PixelFormat
  ) async throws {
    let images = (1 ... 6).map { Self.image($0, format) }
    let outputs = [
      Self.output("same"), Self.output("small") { $0.width = 20 },
      Self.output("file") {
        $0.format = .jpeg
        $0.height = 16
        $0.jpegQuality = 70
      },
      Self.output("own", [.filter("colorInvert"), .filter("vignette")]) { $0.format = .rgb24 },
    ]
    let answers = try await Self.converse(.open(Self.look) { $0.outputs = outputs }, images)
    let outcomes = answers.frames(of: "")
    #expect(outcomes.map(\.sequence) == Array(1 ... 6))
    #expect(outcomes.allSatisfy { $0.image.pixels == nil && !$0.unmodified })
    #expect(outcomes.allSatisfy { $0.disposition == .filtered && $0.image.width == 48 })
    let results = try await Self.converse(.open(Self.look), images).frames.map(\.image)
    for output in outputs {
      let frames = answers.frames(of: output.name)
      #expect(frames.map(\.sequence) == Array(1 ... 6), "nothing is dropped under NEVER_DROP")
      let second = try await Self.converse(
        .open(try Pipeline(output.pipeline)) { $0.output = output.output }, results
      ).frames.map(\.image)
      let isEqual = frames.map(\.image) == second
      #expect(isEqual, "\(output.name) equals a session that filters the results")
      guard output.name != "own" else { continue }
      let separate = try await Self.converse(
        .open(Self.look) { $0.output = output.output }, images
      ).frames.map(\.image)
      let isSeparate = frames.map(\.image) == separate
      #expect(isSeparate, "\(output.name) equals a separate session")
    }
  }

  @Test func `outputs of JPEG frames are files unless they state a format`() async throws {
    let images = try (0 ..< 3).map { try Sidelight_V1_Image.jpeg(64, 48, seed: $0) }
    let answers = try await Self.converse(
      .open { open in
        open.outputs = [
          Self.output("file") { $0.width = 32 }, Self.output("samples") { $0.format = .i420 },
        ]
      }, images)
    #expect(answers.frames(of: "").count == 3)
    let files = try await Self.converse(.open { $0.output.width = 32 }, images).frames
    let isEqual = answers.frames(of: "file").map(\.image) == files.map(\.image)
    #expect(isEqual)
    #expect(answers.frames(of: "samples").allSatisfy { $0.image.format == .i420 })
  }

  @Test func `the session's pipeline runs once per frame`() async throws {
    /// The names of the spans of a session.
    func spans(_ open: Sidelight_V1_ClientMessage) async throws -> [String] {
      let tracer = W3CTracer()
      _ = try await Self.converse(open, (1 ... 5).map { Self.image($0) }, tracer: tracer)
      #expect(tracer.memory.activeSpans.isEmpty)
      return tracer.memory.finishedSpans.map(\.operationName)
    }
    let names = try await spans(
      .open([.filter("gaussianBlur")]) { open in
        open.outputs = [
          Self.output("a"), Self.output("b") { $0.width = 20 },
          Self.output("c", [.filter("median")]),
        ]
      })
    for filter in ["gaussianBlur", "median"] {
      let passes = try await spans(.open([.filter(filter)])).count { $0.contains(filter) }
      #expect(passes >= 5)
      #expect(names.count { $0.contains(filter) } == passes, "as in a session without outputs")
    }
    #expect(names.count { $0 == "sidelight.frame" } == 5)
  }

  @Test(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"))
  func `outputs have their own encoders`() async throws {
    let stream = try EncodedStream(.vp8, 96, 64, count: 6)
    let images = stream.units.indices.map { stream.image($0) }
    let answers = try await Self.converse(
      .open(EncodedVideoTests.look) { open in
        open.outputs = [
          Self.output("large"),
          Self.output("small") {
            $0.format = .h264
            $0.width = 48
          },
        ]
      }, images)
    let expected = try stream.decoded()
    for (name, codec, width) in [("large", VideoCodec.vp8, 96), ("small", .h264, 48)] {
      let frames = answers.frames(of: name)
      #expect(frames.map(\.sequence) == Array(1 ... 6))
      #expect(frames.map(\.image.encoded.keyFrame) == [true] + Array(repeating: false, count: 5))
      #expect(frames.allSatisfy { Int($0.image.width) == width })
      for (result, decoded) in zip(
        try EncodedStream.decode(frames.map(\.image), codec), expected)
      {
        let filtered = try await decoded.filtered(
          EncodedVideoTests.look, shape: FrameShape(width: width))
        #expect(result.lumaPSNR(to: filtered) > 28)
      }
    }
    let bytes = answers.frames.reduce(0) { $0 + $1.image.inline.count }
    #expect(answers.finalStats?.bytesOut == UInt64(bytes))
  }

  @Test(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"))
  func `settings and key frames are requested from one output`() async throws {
    let open = Sidelight_V1_ClientMessage.open { open in
      open.outputs = ["a", "b"].map { name in Self.output(name) { $0.format = .vp8 } }
    }
    @Sendable func change(_ name: String, _ id: UInt64) -> Sidelight_V1_ClientMessage {
      .with {
        $0.setEncoder.output = name
        $0.setEncoder.width = 24
        $0.setEncoder.requestID = id
      }
    }
    let answers = try await withServer { _, address in
      try await withStub(address) {
        try await $0.converse([
          open, change("b", 1), change("c", 2), change("", 3),
          .with { $0.requestKeyFrame.output = "c" },
          .with {
            $0.ack.output = "c"
            $0.ack.sequence = 1
          }, .frame(1, Self.image(1)),
        ])
      }
    }
    #expect(answers.accepted.map(\.requestID) == [1])
    #expect(answers.errors.map(\.requestID) == [2, 3, 0, 0])
    #expect(
      answers.errors.map(\.status.message) == [
        "set_encoder.output: is 'c'; it must be one of 'a', 'b'",
        "set_encoder.output: is ''; it must be one of 'a', 'b'",
        "request_key_frame.output: is 'c'; it must be one of 'a', 'b'",
        "ack.output: is 'c'; it must be one of 'a', 'b'",
      ])
    #expect(answers.frames(of: "a").map(\.image.width) == [48])
    #expect(answers.frames(of: "b").map(\.image.width) == [24])
  }

  // MARK: Time

  @Test func `a slow output loses frames alone`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.converseInTurn(
          stub,
          .open(Self.look, policy: .newestWins) { open in
            open.outputWindow = 1
            open.outputs = [Self.output("fast"), Self.output("slow")]
          }, frames: 12, awaiting: ["fast"])
      }
    }
    #expect(answers.frames(of: "").map(\.sequence) == Array(1 ... 12))
    #expect(answers.frames(of: "fast").map(\.sequence) == Array(1 ... 12))
    let (slow, drops) = (answers.frames(of: "slow"), answers.drops)
    // Without an acknowledgement one frame is sent; the last ones follow at the end.
    #expect((1 ... 4).contains(slow.count))
    #expect(slow.last?.sequence == 12)
    #expect(drops.allSatisfy { $0.output == "slow" && $0.reason == .outputSuperseded })
    #expect(slow.count + drops.reduce(0) { $0 + Int($1.count) } == 12)
    let stats = try #require(answers.finalStats)
    #expect(stats.filtered == 12)
    #expect(stats.dropped.isEmpty)
    #expect(stats.outputs.map(\.output) == ["fast", "slow"])
    #expect(stats.outputs.map(\.outcomes) == [12, 12])
    #expect(stats.outputs.map(\.filtered) == [12, UInt64(slow.count)])
    #expect(stats.bytesOut == stats.outputs.reduce(0) { $0 + $1.bytesOut })
  }

  @Test func `frames beyond an output's rate are left out by their capture times`() async throws {
    let frames = (1 ... 12).map { sequence in
      Sidelight_V1_ClientMessage.frame(sequence, Self.image(sequence)) {
        // The sender's clock is set back after the ninth frame.
        let index = sequence > 9 ? Int64(sequence) - 10 : Int64(sequence) + 100
        $0.captureTimeNs = index * 33_333_333 + 1
      }
    }
    let answers = try await withServer { _, address in
      try await withStub(address) {
        try await $0.converse(
          [.open { $0.outputs = [Self.output("some", maxFPS: 10), Self.output("all")] }] + frames)
      }
    }
    #expect(answers.frames(of: "all").map(\.sequence) == Array(1 ... 12))
    #expect(answers.frames(of: "some").map(\.sequence) == [1, 4, 7, 10])
    #expect(answers.drops.isEmpty)
    #expect(answers.finalStats?.outputs.map(\.received) == [4, 12])
  }

  @Test func `the bytes of outputs are charged to the caller`() async throws {
    var configuration = ServerConfiguration()
    // Half of a frame's bytes.
    configuration.quotas.bytesPerSecond = Double(48 * 32 * 2)
    let clock = ManualClock()
    let answers = try await withServer(configuration, clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await Self.converseInTurn(
          stub, .open(policy: .newestWins) { $0.outputs = [Self.output("a")] }, frames: 6,
          awaiting: ["a"],
          before: { if $0 > 1 { clock.advance(by: .seconds(1)) } })
      }
    }
    // Without the output every second frame is within the rate.
    #expect(answers.frames(of: "").map(\.sequence) == [1, 5])
  }

  @Test func `the frames of outputs are counted in a metric of their own`() async throws {
    let registry = PrometheusRegistry(descriptions: SidelightServer.metricDescriptions)
    try await withServer(metrics: registry) { server, address in
      _ = try await withStub(address) {
        try await $0.converse([
          .open(Self.look) { open in
            open.outputs = [
              Self.output("fine"),
              .with {
                $0.name = "huge"
                $0.pipelineText = "scale(width: 8192, height: 8192, mode: stretch)"
              },
            ]
          }, .frame(1, Self.image(1)),
        ])
      }
      server.updateMetrics()
    }
    func value(_ name: String, _ outcome: String, _ reason: String = "none") -> Double? {
      MetricsTests.value("\(name){outcome=\"\(outcome)\",reason=\"\(reason)\"}", in: registry)
    }
    let name = "sidelight_output_frames_total"
    #expect(value("sidelight_frames_total", "filtered") == 1)
    #expect(value(name, "filtered") == 1)
    #expect(value(name, "dropped", "stage_failed") == 1)
    #expect(!registry.text.contains("No description"))
  }

  // MARK: Operators and failures

  @Test func `an override replaces the pipelines of outputs, and waiting pictures are discarded`()
    async throws
  {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.converseInTurn(
          stub,
          .open(policy: .newestWins) { open in
            open.outputWindow = 1
            open.outputs = [
              Self.output("read", [.filter("colorInvert")]), Self.output("unread"),
            ]
          }, frames: 5, awaiting: ["read"],
          before: { sequence in
            guard sequence == 4 else { return }
            try await withOperators(address) { operators in
              let sessions = try await operators.listSessions(.init()).sessions
              _ = try await operators.overrideSession(
                .with {
                  $0.sessionID = sessions[0].sessionID
                  $0.pipeline = Sidelight_V1_Pipeline(Self.look)
                  $0.timeToLive.seconds = 600
                })
            }
          })
      }
    }
    let forced = try await Self.converse(.open(Self.look), [Self.image(4), Self.image(5)]).frames
    let inverted = try await Self.converse(
      .open([.filter("colorInvert")]), (1 ... 3).map { Self.image($0) }
    ).frames
    let isEqual =
      answers.frames(of: "read").map(\.image) == (inverted + forced).map(\.image)
    #expect(isEqual, "the output's own pipeline is left out during the override")
    let unread = answers.frames(of: "unread")
    #expect(unread.count { $0.revision == 1 } <= 1, "a window of 1, and nothing after the override")
    #expect(unread.last?.sequence == 5)
    #expect(unread.last?.revision == 2)
    #expect(answers.finalStats?.outputs.map(\.outcomes) == [5, 5])
  }

  @Test func `a pause that passes frames on, and a stage that fails, reach the outputs`()
    async throws
  {
    struct Broken: Error {}
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("broken", "Fails.", frame: { _, _, _ in throw Broken() }))
    let answers = try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) {
        try await $0.converse([
          .open([.filter("broken")]) { $0.outputs = [Self.output("small") { $0.width = 24 }] },
          .frame(1, Self.image(1)), .with { $0.pause.passThrough = true },
          .frame(2, Self.image(2)),
        ])
      }
    }
    let small = answers.frames(of: "small")
    #expect(small.map(\.disposition) == [.passedThrough, .passedThrough])
    #expect(small.map(\.image.width) == [24, 24])
    #expect(small.map { $0.failure.message.contains("broken") } == [true, false])
    #expect(answers.frames(of: "").map(\.hasFailure) == [true, false])
  }

  @Test func `a custom filter that returns late gives no second outcome`() async throws {
    let (clock, gate) = (ManualClock(), Gate())
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    var configuration = ServerConfiguration()
    configuration.computeThreads = 2
    let answers = try await withServer(
      configuration, catalogue: catalogue, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await clock.ticking(by: .seconds(3)) {
          try await Self.converseInTurn(
            stub, .open([.filter("gate")]) { $0.outputs = [Self.output("a")] }, frames: 3,
            awaiting: ["a"],
            before: { if $0 == 2 { gate.open(for: 8) } })
        }
      }
    }
    #expect(answers.frames(of: "").map(\.sequence) == [1, 2, 3])
    #expect(answers.frames(of: "a").map(\.sequence) == [1, 2, 3])
    #expect(answers.frames(of: "a").first?.disposition == .passedThrough)
  }

  // MARK: Refusals

  /// A change of a valid `open`, and the refused field.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let field: String
    let change: @Sendable (inout Sidelight_V1_Open) -> Void
    var testDescription: String { self.field }
  }

  static let refusals: [Refusal] = [
    Refusal(field: "open.output") { $0.output.width = 16 },
    Refusal(field: "open.analysis_only") { $0.analysisOnly = true },
    Refusal(field: "open.outputs") { open in
      open.outputs = (0 ... 4).map { Self.output("\($0)") }
    },
    Refusal(field: "open.outputs[1].name") { $0.outputs.append(Self.output("a")) },
    Refusal(field: "open.outputs[0].name") { $0.outputs[0].name = "" },
    Refusal(field: "open.outputs[0].name") { $0.outputs[0].name = "a\u{202E}" },
    Refusal(field: "open.outputs[0].name") {
      $0.outputs[0].name = String(repeating: "n", count: 65)
    },
    Refusal(field: "open.outputs[0].max_fps") { $0.outputs[0].maxFps = -1 },
    Refusal(field: "open.outputs[0].output.format") { $0.outputs[0].output.format = .png },
    Refusal(field: "open.outputs[0].output.width") { $0.outputs[0].output.width = 99_999 },
    Refusal(field: "open.outputs[0].output.encoder.bit_rate") {
      $0.outputs[0].output.encoder.bitRate = 1
    },
    Refusal(field: "open.outputs[0].pipeline.stages[0].filter.name") {
      $0.outputs[0].pipeline = Sidelight_V1_Pipeline([.filter("noSuchFilter")])
    },
    Refusal(field: "open.outputs[0].pipeline_text") { $0.outputs[0].pipelineText = "sepiaTone(" },
    Refusal(field: "open.outputs[0].pipeline") {
      $0.outputs[0].pipeline = Sidelight_V1_Pipeline([.filter("gate")])
    },
    Refusal(field: "open.outputs[0].pipeline") {
      $0.outputs[0].pipeline = Sidelight_V1_Pipeline([.filter("lowLight")])
    },
    Refusal(field: "open.outputs[0].pipeline_text") { $0.outputs[0].pipelineText = "histogram" },
  ]

  @Test(arguments: Self.refusals)
  func `invalid outputs are refused with their field`(refusal: Refusal) async throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(Gate().filter)
    try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        let error = await #expect(throws: RPCError.self) {
          try await stub.converse([
            .open { open in
              open.outputs = [Self.output("a")]
              refusal.change(&open)
            }
          ])
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.hasPrefix("\(refusal.field): ") == true, "\(error?.message ?? "")")
      }
    }
  }

  @Test func `filters of outputs need the permissions of the session`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let error = await #expect(throws: RPCError.self) {
          try await stub.converse([
            .open { open in
              open.allowedFilters = ["sepiaTone"]
              open.outputs = [Self.output("a", [.filter("colorInvert")])]
            }
          ])
        }
        #expect(error?.code == .permissionDenied)
        #expect(error?.message.contains("open.outputs[0].pipeline") == true)
      }
    }
  }

  @Test func `a ring is not granted, and pixels travel inline`() async throws {
    let answers = try await Self.converse(
      .open { open in
        open.sharedMemory = .init()
        open.outputs = [Self.output("a")]
      }, [Self.image(1)])
    let opened = try #require(answers.first).opened
    #expect(!opened.hasSharedMemory)
    #expect(opened.sharedMemoryRefusal.code == Int32(RPCError.Code.unimplemented.rawValue))
    #expect(answers.frames(of: "a").map(\.image.inline) == [Self.image(1).inline])
  }
}

extension [Sidelight_V1_ServerMessage] {
  /// The frames of a named output; of the session for an empty name.
  fileprivate func frames(of output: String) -> [Sidelight_V1_FilteredFrame] {
    self.frames.filter { $0.output == output }
  }
}
