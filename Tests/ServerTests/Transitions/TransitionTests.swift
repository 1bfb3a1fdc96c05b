import Foundation
import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Sessions whose pipeline changes gradually.
@Suite(.timeLimit(.minutes(5))) struct TransitionTests {
  static let sepia: Pipeline = [.filter("sepiaTone")]
  static let negative: Pipeline = [
    .filter("colorInvert"), .filter("gammaAdjust", ["power": .number(0.7)]),
  ]
  /// Ten frames of 40 ms.
  static let duration = Duration.milliseconds(400)

  static func client(
    _ transition: PipelineTransition = .fade(Self.duration), from: Pipeline = Self.sepia,
    to: Pipeline = Self.negative
  ) -> TransitionClient {
    TransitionClient(first: from, change: .select(to, transition))
  }

  @Test(
    arguments: [PixelFormat.i420, .nv12, .bgra8, .rgb24, .gray8],
    [TransitionCurve.linear, .easeInOut])
  func `frame k of n of a fade is the mix of the results of both pipelines`(
    _ format: PixelFormat, _ curve: TransitionCurve
  ) async throws {
    var client = Self.client(.fade(Self.duration, curve: curve))
    client.image = .noise(format, 37, 23)
    let frames = client.frames(0 ..< 12)
    let answers = try await client.run(frames: frames)
    let earlier = try await client.results(of: Self.sepia, frames: frames)
    let later = try await client.results(of: Self.negative, frames: frames)
    #expect(answers.pictures.count == 12)
    for (number, picture) in answers.pictures.enumerated() {
      let weight = curve(Double(number) / 10)
      let difference = greatestDifference(
        of: picture, fromMixOf: earlier[number], later[number], weight: weight)
      #expect(difference <= 1, "frame \(number)")
    }
    #expect(answers.pictures[0] == earlier[0] && answers.pictures[10] == later[10])
    #expect(answers.frames.allSatisfy { $0.disposition == .filtered })
    #expect(answers.frames.map(\.revision) == [1] + Array(repeating: 2, count: 12))
    #expect(answers.ended.map(\.end) == [.completed])
    #expect(answers.ended.first?.firstSequence == 20)
    #expect(answers.ended.first?.revision == 2 && answers.ended.first?.requestID == 7)
  }

  @Test(arguments: [
    PipelineTransition.Style.wipe(.right, softness: 0.2), .wipe(.left, softness: 0),
    .wipe(.down, softness: 1), .wipe(.up, softness: 0.1), .dissolve(softness: 0.3, seed: 5),
    .dissolve(softness: 0),
  ])
  func `every sample of a wipe or dissolve goes from the earlier result to the later one`(
    _ style: PipelineTransition.Style
  ) async throws {
    let client = Self.client(PipelineTransition(Self.duration, style: style))
    let frames = client.frames(0 ..< 11)
    let pictures = try await client.run(frames: frames).pictures
    let earlier = try await client.results(of: Self.sepia, frames: frames)
    let later = try await client.results(of: Self.negative, frames: frames)
    #expect(pictures[0] == earlier[0] && pictures[10] == later[10])
    var shares: [Double] = []
    for picture in pictures {
      var changed = 0.0
      var differing = 0.0
      for (sample, ends) in zip(picture, zip(earlier[0], later[0])) where ends.0 != ends.1 {
        #expect(min(ends.0, ends.1) <= sample && sample <= max(ends.0, ends.1))
        changed += (Double(sample) - Double(ends.0)) / (Double(ends.1) - Double(ends.0))
        differing += 1
      }
      shares.append(changed / differing)
    }
    #expect(shares == shares.sorted(), "the share of the later result never decreases: \(shares)")
    #expect(shares[5] > 0.3 && shares[5] < 0.7)
  }

  @Test func `a transition to an equal pipeline changes nothing`() async throws {
    let client = Self.client(to: Self.sepia)
    let frames = client.frames(0 ..< 4)
    let answers = try await client.run(frames: frames)
    let expected = try await client.results(of: Self.sepia, frames: frames)
    #expect(answers.pictures == expected)
    #expect(answers.ended.map(\.end) == [.completed])
  }

  @Test func `a fade leads from and to the empty pipeline`() async throws {
    let empty: Pipeline = []
    for (from, to) in [(empty, Self.negative), (Self.negative, empty)] {
      let client = Self.client(from: from, to: to)
      let frames = client.frames(0 ..< 12)
      let pictures = try await client.run(frames: frames).pictures
      let earlier = try await client.results(of: from, frames: frames)
      let later = try await client.results(of: to, frames: frames)
      #expect(pictures[0] == earlier[0] && pictures[11] == later[11])
      let difference = greatestDifference(
        of: pictures[3], fromMixOf: earlier[3], later[3], weight: 0.3)
      #expect(difference <= 1)
    }
  }

  @Test func `a pipeline as text can be selected with a transition`() async throws {
    var client = Self.client()
    client.change.select.pipelineText = "colorInvert, gammaAdjust(power: 0.7)"
    let pictures = try await client.run(frames: client.frames(0 ..< 6)).pictures
    let expected = try await Self.client().run(frames: client.frames(0 ..< 6)).pictures
    #expect(pictures == expected)
  }

  @Test func `an activation can fade a stage in`() async throws {
    var stage = Stage.filter("colorInvert")
    stage.isActive = false
    var client = Self.client(from: [stage])
    client.change = .with {
      $0.activate.stages = ["stages[0]": true]
      $0.activate.transition = Sidelight_V1_Transition(.fade(Self.duration))
    }
    let frames = client.frames(0 ..< 6)
    let pictures = try await client.run(frames: frames).pictures
    let earlier = try await client.results(of: [], frames: frames)
    let later = try await client.results(of: [.filter("colorInvert")], frames: frames)
    let difference = greatestDifference(
      of: pictures[5], fromMixOf: earlier[5], later[5], weight: 0.5)
    #expect(difference <= 1)
  }

  @Test func `frames without capture times follow the time of arrival`() async throws {
    let clock = ManualClock()
    var client = Self.client()
    client.clock = clock.sessionClock
    let frames = (0 ..< 12).map { client.frame($0) { $0.captureTimeNs = 0 } }
    let answers = try await client.run(frames: frames) { index in
      if index >= 3 { clock.advance(by: .milliseconds(40)) }
    }
    var timed = Self.client()
    timed.clock = ManualClock().sessionClock
    let expected = try await timed.run(frames: timed.frames(0 ..< 12)).pictures
    #expect(answers.pictures == expected)
  }

  @Test func `capture times that go back, or do not advance, end the transition`() async throws {
    let client = Self.client()
    let back = try await client.run(
      frames: [client.frame(0), client.frame(5)]
        + [client.frame(6) { $0.captureTimeNs = TransitionClient.captureTime(4) }])
    #expect(back.ended.map(\.end) == [.captureTime])
    #expect(back.ended.first?.firstSequence == 16)
    let standing = try await client.run(
      frames: (0 ..< 110).map { number in
        client.frame(number) { $0.captureTimeNs = TransitionClient.captureTime(0) }
      })
    #expect(standing.ended.map(\.end) == [.captureTime])
    #expect(standing.ended.first?.firstSequence == 110)
  }

  @Test func `a selection during a transition completes it with a cut`() async throws {
    let client = Self.client()
    let third: Pipeline = [.filter("pixellate")]
    let frames = client.frames(0 ..< 10)
    let answers = try await client.run(
      frames: Array(frames[..<4]) + [.select(third, .fade(Self.duration), requestID: 8)]
        + Array(frames[4...]))
    let later = try await client.results(of: Self.negative, frames: frames)
    let last = try await client.results(of: third, frames: frames)
    #expect(answers.pictures[4] == later[4])
    let difference = greatestDifference(
      of: answers.pictures[9], fromMixOf: later[9], last[9], weight: 0.5)
    #expect(difference <= 1)
    #expect(answers.ended.isEmpty, "the second is not over, and the first was replaced")
  }

  @Test func `pipelines with results of other sizes change with a cut`() async throws {
    let crop: Pipeline = [
      .filter("crop", ["width": .length(Length(0.5, .width))])
    ]
    let client = Self.client(to: crop)
    let frames = client.frames(0 ..< 3)
    let answers = try await client.run(frames: frames)
    #expect(answers.ended.map(\.end) == [.outputDiffers])
    #expect(answers.ended.first?.firstSequence == 10)
    let expected = try await client.results(of: crop, frames: frames)
    #expect(answers.pictures == expected)
  }

  @Test func `JPEG frames fade too`() async throws {
    var client = Self.client(from: [], to: [.filter("colorInvert")])
    client.image = try .jpeg(48, 32)
    let frames = client.frames(0 ..< 12)
    let answers = try await client.run(frames: frames)
    #expect(answers.pictures[0] == client.image.inline)
    func luma(_ data: Data) throws -> Double {
      let frame = try Sidelight_V1_Image.jpeg([UInt8](data)).decoded(as: .gray8)
      return (0 ..< frame.size.height).reduce(0.0) { sum, row in
        frame.withRow(row) { bytes in
          (0 ..< bytes.byteCount).reduce(sum) {
            $0 + Double(bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self))
          }
        }
      } / Double(frame.size.pixelCount)
    }
    let levels = try answers.pictures.map(luma)
    #expect(abs(levels[5] - (levels[0] + levels[10]) / 2) < 2)
  }

  @Test func `an override ends a transition, which does not continue after it`() async throws {
    var state = try PipelineState(pipeline: Self.sepia, catalogue: .builtIn)
    try state.change(
      ifRevision: nil, requestID: 1, transition: .mix(.fade(.seconds(1)))
    ) { $0 = Self.negative }
    _ = state.activePipeline(captureTime: 1, arrival: .zero)
    let (moving, _) = state.activePipeline(captureTime: 500_000_001, arrival: .zero)
    #expect(moving.transition?.progress == 0.5)
    try state.override(with: [.filter("pixellate")], reason: "test", until: .seconds(10))
    let (forced, ended) = state.activePipeline(captureTime: 600_000_001, arrival: .zero)
    #expect(forced.isOverride && forced.transition == nil && ended == nil)
    try state.change(
      ifRevision: nil, requestID: 2, transition: .mix(.fade(.seconds(1)))
    ) { $0 = Self.sepia }
    _ = state.endOverride()
    let (free, _) = state.activePipeline(captureTime: 700_000_001, arrival: .zero)
    #expect(free.transition == nil && free.pipeline.activeFilters == ["sepiaTone"])
  }

  @Test func `a cut counts for its frame and later ones of the revision`() throws {
    var state = try PipelineState(pipeline: Self.sepia, catalogue: .builtIn)
    try state.change(
      ifRevision: nil, requestID: 1, transition: .mix(.fade(.seconds(1)))
    ) { $0 = Self.negative }
    let revision = state.activePipeline.revision
    #expect(!state.hasCutTransition(to: revision, at: 10))
    let isNew = state.cutTransition(to: revision, at: 12)
    #expect(isNew)
    #expect(!state.hasCutTransition(to: revision, at: 11))
    #expect(state.hasCutTransition(to: revision, at: 12))
    // A frame that waited lacks time for the transition too.
    let isNewAgain = state.cutTransition(to: revision, at: 11)
    #expect(!isNewAgain)
    #expect(!state.hasCutTransition(to: revision, at: 10))
    #expect(state.hasCutTransition(to: revision, at: 11))
    #expect(!state.hasCutTransition(to: Revision(number: 3, requestID: 2), at: 20))
  }

  /// A state that holds a protecting pipeline for ten seconds from its first frame, at 1 s.
  private static func heldState() throws -> PipelineState {
    var state = try PipelineState(
      pipeline: [.filter("mark", ["protects": .flag(true)])], catalogue: MarkFilter.catalogue())
    try state.change(
      ifRevision: nil, requestID: 1, transition: .mix(.fade(.seconds(10)))
    ) { $0 = [] }
    _ = state.activePipeline(captureTime: 1_000_000_000, arrival: .zero)
    return state
  }

  @Test(arguments: [nil, .seconds(1), .seconds(20)] as [Duration?])
  func `no update or transition ends the hold of a protecting pipeline early`(
    _ duration: Duration?
  ) throws {
    var state = try Self.heldState()
    try state.change(
      ifRevision: nil, requestID: 2, transition: duration.map { .mix(.fade($0)) },
      isSelection: false
    ) { $0 = Self.sepia }
    for second in [9, 10] as [Int64] {
      let (held, ended) = state.activePipeline(
        captureTime: second * 1_000_000_000, arrival: .zero)
      #expect(held.transition?.kind == .hold && ended == nil)
      #expect(held.transition?.earlier.activeFilters == ["mark"])
      #expect(held.revision == Revision(number: 3, requestID: 2))
    }
    let (free, ended) = state.activePipeline(captureTime: 40_000_000_000, arrival: .zero)
    #expect(free.transition == nil && free.pipeline.activeFilters == ["sepiaTone"])
    #expect(ended?.0 == Revision(number: 3, requestID: 2) && ended?.1 == .protection)
  }

  @Test func `a selection without a transition ends the hold of a protecting pipeline`() throws {
    var state = try Self.heldState()
    try state.change(ifRevision: nil, requestID: 2) { $0 = Self.sepia }
    let (free, _) = state.activePipeline(captureTime: 2_000_000_000, arrival: .zero)
    #expect(free.transition == nil && free.pipeline.activeFilters == ["sepiaTone"])
  }

  @Test func `a token of a transition restores the pipeline that it leads to`() async throws {
    let client = Self.client()
    let keys = [ResumeTests.key("a", 1)]
    let frames = client.frames(4 ..< 6)
    let first = try await ResumeTests.converse(
      keys: keys,
      [.open(Self.sepia), client.change, client.frame(0), client.frame(1)])
    let resumed = try await ResumeTests.converse(
      keys: keys,
      [ResumeTests.open(resuming: try #require(first.applied.last?.resumeToken))] + frames)
    let expected = try await client.results(of: Self.negative, frames: frames)
    #expect(resumed.pictures == expected)
  }
}
