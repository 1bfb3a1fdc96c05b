import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Tests of analyses, which look at frames without touching them.
@Suite(.timeLimit(.minutes(5))) struct AnalysisTests {
  /// Grey of one level all over.
  static func grey(_ level: UInt8) -> Sidelight_V1_Image {
    var image = Sidelight_V1_Image.noise(.gray8, 32, 24)
    image.inline = .init(repeating: level, count: image.inline.count)
    return image
  }

  struct Broken: Error {}

  /// Reports which frames it saw; fails for the frames configured to fail.
  struct RecordingAnalysis: FrameAnalysis {
    var everyNth = 1
    var fails = false

    func analyze(_ frame: Frame, at time: FrameTime) throws -> [String: AnalysisValue] {
      if self.fails { throw Broken() }
      return [
        "index": .number(Double(time.index)), "words": .text("seen"),
        "face": .region(
          Region(
            origin: FramePoint(x: Length(1), y: Length(2)), width: Length(3), height: Length(4)),
          confidence: 0.5, id: 7),
      ]
    }
  }

  static func catalogue(_ witness: RecordingAnalysis) -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("witness", "Sees.", analysis: witness))
    return catalogue
  }

  /// Sends frames sequentially, waiting for an analysis of every frame that it sees.
  static func converse(
    _ pipeline: Pipeline, _ images: [Sidelight_V1_Image], catalogue: FilterCatalogue = .builtIn,
    everyNth: Int = 1, _ configure: (inout Sidelight_V1_Open) -> Void = { _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    var open = Sidelight_V1_ClientMessage.open(pipeline)
    configure(&open.open)
    return try await withServer(catalogue: catalogue) { [open] _, address in
      try await withStub(address) { stub in
        let (turns, turn) = AsyncStream<Void>.makeStream()
        return try await stub.process { writer in
          var iterator = turns.makeAsyncIterator()
          try await writer.write(open)
          for (index, image) in images.enumerated() {
            try await writer.write(.frame(UInt64(index + 1), image))
            await iterator.next()
            if index % everyNth == 0 { await iterator.next() }
          }
        } onResponse: { response in
          var answers: [Sidelight_V1_ServerMessage] = []
          for try await message in response.messages {
            answers.append(message)
            switch message.kind {
            case .frame?, .analysis?, .error?: turn.yield()
            default: break
            }
          }
          return answers
        }
      }
    }
  }

  @Test
  func `brightnessStatistics reports the mean, the contrast and the motion since its last run`()
    async throws
  {
    let answers = try await Self.converse(
      [.filter("brightnessStatistics", ["everyNth": .number(1)])], [Self.grey(51), Self.grey(204)])
    let analyses = answers.analyses
    #expect(analyses.map(\.sequence) == [1, 2])
    #expect(analyses.map(\.filter) == ["brightnessStatistics", "brightnessStatistics"])
    #expect(analyses.map(\.stage) == ["stages[0]", "stages[0]"])
    #expect(abs((analyses[0].figures["mean"] ?? 0) - 0.2) < 1e-6)
    #expect(abs((analyses[1].figures["mean"] ?? 0) - 0.8) < 1e-6)
    #expect(abs((analyses[1].figures["motion"] ?? 0) - 0.6) < 1e-6)
    #expect(analyses[0].figures["contrast"] == 0)
    #expect(analyses[0].rows["histogram"]?.values[3] == 1)
  }

  @Test func `an analysis changes neither the pixels nor the outcome of a frame`() async throws {
    let answers = try await Self.converse(
      [.filter("witness")], [Self.grey(9)], catalogue: Self.catalogue(RecordingAnalysis()))
    #expect(answers.frames.first?.disposition == .passedThrough)
    #expect(answers.frames.first?.image == Self.grey(9))
    let analysis = try #require(answers.analyses.first)
    #expect(analysis.words == ["words": "seen"])
    let detection = try #require(analysis.detections.first)
    #expect(detection.kind == "face")
    #expect(detection.trackingID == 7)
    #expect(detection.confidence == 0.5)
    #expect([detection.x, detection.y, detection.width, detection.height] == [1, 2, 3, 4])
    #expect(answers.finalStats != nil, "counts come last")
  }

  @Test
  func `an analysis receives every nth frame, and none while its stage is inactive`() async throws {
    let images = (0 ..< 7).map { _ in Self.grey(9) }
    let answers = try await Self.converse(
      [
        Stage(.filter(FilterCall(name: "witness")), id: "eye"),
        Stage(.filter(FilterCall(name: "brightnessStatistics")), isActive: false),
      ], images, catalogue: Self.catalogue(RecordingAnalysis(everyNth: 3)), everyNth: 3)
    #expect(answers.analyses.map(\.sequence) == [1, 4, 7])
    #expect(answers.analyses.allSatisfy { $0.stage == "eye" })
  }

  @Test func `an analysis-only session sends no pixels back`() async throws {
    let answers = try await Self.converse(
      [.filter("witness"), .filter("colorInvert")], [Self.grey(9)],
      catalogue: Self.catalogue(RecordingAnalysis())
    ) { $0.analysisOnly = true }
    #expect(answers.analyses.count == 1)
    #expect(answers.frames.first?.image.pixels == nil)
    #expect(answers.frames.first?.image.width == 32)
  }

  @Test func `an analysis that fails is reported once, and drops no frame`() async throws {
    let catalogue = Self.catalogue(RecordingAnalysis(fails: true))
    let answers = try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("witness")]), (1 ... 5).map { .frame($0, Self.grey(9)) })
      }
    }
    #expect(answers.frames.count == 5)
    #expect(answers.errors.count == 1)
    #expect(answers.errors.first?.status.message.contains("witness") == true)
  }

  @Test func `a slow analysis delays no frame, and receives the newest frame next`() async throws {
    let gate = AnalysisGate()
    var catalogue = FilterCatalogue()
    catalogue.register(CustomFilter("slow", "Waits.", analysis: gate))
    try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converseInTurn(
          .open([.filter("slow")]), (1 ... 5).map { .frame($0, Self.grey(9)) }
        ) { index in
          // Every frame has come back although the first is still being looked at.
          if index == 4 { gate.open() }
        }
        #expect(answers.frames.count == 5)
        #expect(answers.analyses.first?.sequence == 1)
        #expect((1 ... 5).contains(answers.analyses.count))
      }
    }
  }

  /// Counts the frames that it has looked at, starting from `start`.
  struct Counter: CatalogueFilter {
    static let description = FilterDescription(
      name: "counter", summary: "Counts.", category: .analysis, reach: .frame, fidelity: .custom,
      formula: "count = start + frames",
      parameters: [
        ParameterDescription(
          "start", .number, default: .number(0), slider: 0 ... 100, limits: 0 ... 1000, "The first."
        )
      ])

    let start: Double

    init(_ arguments: Arguments) { self.start = arguments.number("start") }

    func nodes(for geometry: FrameGeometry) -> [FilterNode] {
      [.analysis(Analysis(start: self.start))]
    }

    struct Analysis: FrameAnalysis {
      let everyNth = 1
      let start: Double

      func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] { [:] }
      func makeAnalyzer() -> any FrameAnalyzer { Analyzer(count: self.start) }
    }

    struct Analyzer: FrameAnalyzer {
      var count: Double

      mutating func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
        defer { self.count += 1 }
        return ["count": .number(self.count)]
      }
    }
  }

  @Test
  func `an analysis restarts with other parameters, and keeps its state while it is inactive`()
    async throws
  {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(Counter.self)
    let pipeline: Pipeline = [Stage(.filter(FilterCall(name: "counter")), id: "c")]
    let counts = try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        let (looks, look) = AsyncStream<Void>.makeStream()
        return try await stub.process { writer in
          var looks = looks.makeAsyncIterator()
          try await writer.write(.open(pipeline))
          let changes: [Sidelight_V1_ClientMessage?] = [
            nil, nil, .with { $0.activate.stages = ["c": false] },
            .with { $0.activate.stages = ["c": true] },
            .with {
              $0.update.stages = [
                .with {
                  $0.stage = "c"
                  $0.parameters = ["start": .with { $0.number = 100 }]
                }
              ]
            }, nil,
          ]
          for (index, change) in changes.enumerated() {
            if let change { try await writer.write(change) }
            try await writer.write(.frame(UInt64(index) + 1, Self.grey(9)))
            // While the stage is off, no analysis runs.
            if index != 2 { await looks.next() }
          }
        } onResponse: { response in
          var counts: [Double] = []
          for try await message in response.messages {
            guard case .analysis(let analysis)? = message.kind else { continue }
            counts.append(analysis.figures["count"] ?? -1)
            look.yield()
          }
          return counts
        }
      }
    }
    #expect(counts == [0, 1, 2, 100, 101])
  }

  @Test
  func `an analysis that does not return is reported, and does not affect the others`() async throws
  {
    let clock = ManualClock()
    let gate = AnalysisGate()
    var catalogue = Self.catalogue(RecordingAnalysis())
    catalogue.register(CustomFilter("stuck", "Waits.", analysis: gate))
    let answers = try await withServer(
      catalogue: catalogue, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        let (looks, look) = AsyncStream<Void>.makeStream()
        let (returns, returned) = AsyncStream<Void>.makeStream()
        return try await stub.process { writer in
          // A wait of this length means that it has taken too long.
          async let _ = clock.tick(by: .seconds(2))
          var looks = looks.makeAsyncIterator()
          try await writer.write(.open([.filter("stuck"), .filter("witness")]))
          for sequence: UInt64 in 1 ... 5 {
            try await writer.write(.frame(sequence, Self.grey(9)))
            await looks.next()
          }
          gate.open()
          // A session that is over does not wait for it.
          for await _ in returns { break }
        } onResponse: { response in
          var answers: [Sidelight_V1_ServerMessage] = []
          for try await message in response.messages {
            answers.append(message)
            if case .analysis(let analysis)? = message.kind {
              (analysis.filter == "witness" ? look : returned).yield()
            }
          }
          return answers
        }
      }
    }
    #expect(answers.frames.map(\.sequence) == Array(1 ... 5))
    #expect(
      answers.analyses.filter { $0.filter == "witness" }.map(\.sequence) == Array(1 ... 5))
    // The clock may have run out on the witness too, before it was done.
    let errors = answers.errors.filter { $0.status.message.contains("stuck") }
    #expect(errors.map(\.requestID) == [0])
    #expect(errors.first?.status.code == Int32(RPCError.Code.deadlineExceeded.rawValue))
    #expect(answers.analyses.filter { $0.filter == "stuck" }.map(\.sequence) == [1])
  }

  @Test func `each analysis has its own interval, which doubles in the reduced variant`() throws {
    let resolved = try FilterCatalogue.builtIn.resolve([
      Stage(
        .filter(FilterCall(name: "brightnessStatistics", parameters: ["everyNth": .number(2)])),
        id: "two"),
      Stage(
        .filter(FilterCall(name: "brightnessStatistics", parameters: ["everyNth": .number(3)])),
        id: "three"),
    ])
    let analyses = resolved.plan(
      for: FrameGeometry(format: .gray8, size: FrameSize(width: 8, height: 8))
    ).analyses
    var schedule = AnalysisSchedule()
    let looks = (0 ..< 7).map { _ in
      schedule.due(among: analyses, isReduced: false).map(\.stage)
    }
    #expect(
      looks == [["two", "three"], [], ["two"], ["three"], ["two"], [], ["two", "three"]])
    // A due analysis that could not run is due at the next frame, and at its own pace afterwards.
    schedule.postpone(analyses)
    let later = (0 ..< 3).map { _ in schedule.due(among: analyses, isReduced: false).map(\.stage) }
    #expect(later == [["two", "three"], [], ["two"]])
    let reduced = (0 ..< 12).map { _ in
      schedule.due(among: analyses, isReduced: true).filter { $0.stage == "two" }.count
    }
    #expect(reduced.reduce(0, +) == 3)
  }
}

/// An analysis that waits until the test lets it go.
final class AnalysisGate: FrameAnalysis {
  let everyNth = 1
  private let (opened, opening) = AsyncStream<Never>.makeStream()

  func analyze(_ frame: Frame, at time: FrameTime) async -> [String: AnalysisValue] {
    for await _ in self.opened {}
    return [:]
  }

  func open() { self.opening.finish() }
}
