import Foundation
import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Transitions that the server refuses, cuts short, or replaces for safety.
@Suite(.timeLimit(.minutes(5))) struct TransitionLimitTests {
  // MARK: Time

  /// Filters `a` and `b`, which advance the clock.
  static func catalogue(
    _ clock: ManualClock, a: Duration = .zero, b: Duration = .zero, fails: Bool = false
  ) -> FilterCatalogue {
    struct Broken: Error {}
    var catalogue = FilterCatalogue.builtIn
    for (name, duration, level) in [("a", a, UInt8(40)), ("b", b, 200)] {
      catalogue.register(
        CustomFilter(
          name, "Takes its time.",
          frame: { input, output, time in
            clock.advance(by: duration)
            // Frames after the first one of the transition.
            if fails, name == "a", time.index >= 2 { throw Broken() }
            for plane in 0 ..< input.format.planeCount {
              for row in 0 ..< input.format.rowCount(plane: plane, height: input.size.height) {
                output.withMutableRow(row, plane: plane) { row in
                  row.withUnsafeMutableBytes { bytes in
                    for index in bytes.indices { bytes[index] = level }
                  }
                }
              }
            }
          }))
    }
    return catalogue
  }

  static func client(_ clock: ManualClock, _ catalogue: FilterCatalogue) -> TransitionClient {
    TransitionClient(
      first: [.filter("a")],
      change: .select([.filter("b")], .fade(.milliseconds(400))), image: .noise(.gray8, 8, 8),
      policy: .keepOldest, catalogue: catalogue, clock: clock.sessionClock)
  }

  @Test func `a frame without time for both pipelines shows the later one, and is not lost`()
    async throws
  {
    let clock = ManualClock()
    let client = Self.client(
      clock, Self.catalogue(clock, a: .milliseconds(30), b: .milliseconds(30)))
    let answers = try await client.run(
      frames: [
        client.frame(0), client.frame(1) { $0.budgetUs = 100_000 },
        client.frame(2) { $0.budgetUs = 50_000 }, client.frame(3) { $0.budgetUs = 100_000 },
      ])
    #expect(answers.drops.isEmpty)
    #expect(answers.pictures.map(\.first) == [40, 56, 200, 200])
    #expect(answers.frames.allSatisfy { $0.disposition == .filtered })
    #expect(answers.ended.map(\.end) == [.noTime])
    #expect(answers.ended.first?.firstSequence == 12)
  }

  @Test func `the first frame shows the later pipeline if it has no time for the earlier one`()
    async throws
  {
    let clock = ManualClock()
    let client = Self.client(
      clock, Self.catalogue(clock, a: .milliseconds(30), b: .milliseconds(10)))
    let answers = try await client.run(frames: [client.frame(0) { $0.budgetUs = 20_000 }])
    #expect(answers.drops.isEmpty)
    #expect(answers.pictures.map(\.first) == [200])
    #expect(answers.ended.map(\.end) == [.noTime])
  }

  @Test func `an earlier pipeline that becomes slower costs one frame at most`() async throws {
    let clock = ManualClock()
    let slowness = Mutex(Duration.milliseconds(5))
    var client = Self.client(clock, Self.catalogue(clock, b: .milliseconds(30)))
    client.catalogue.register(
      CustomFilter(
        "slow", "Becomes slower.",
        frame: { input, output, _ in
          clock.advance(by: slowness.withLock(\.self))
          copy(input, into: &output)
        }))
    client.first = [.filter("slow"), .filter("slow")]
    let answers = try await client.run(
      frames: client.frames(0 ..< 4).map { message in
        var message = message
        message.frame.budgetUs = 60_000
        return message
      }
    ) { index in
      if index == 3 { slowness.withLock { $0 = .milliseconds(40) } }
    }
    #expect(answers.drops.map(\.reason) == [.lateOnOutput])
    #expect(answers.pictures.count == 3)
    #expect(answers.pictures.dropFirst().map(\.first) == [200, 200])
    #expect(answers.ended.map(\.end) == [.noTime])
    #expect(answers.ended.first?.firstSequence == 11)
  }

  @Test func `with NEVER_DROP a transition is never cut for lack of time`() async throws {
    let clock = ManualClock()
    var client = Self.client(
      clock, Self.catalogue(clock, a: .milliseconds(300), b: .milliseconds(300)))
    client.policy = .neverDrop
    let answers = try await client.run(frames: client.frames(0 ..< 3))
    #expect(answers.pictures.map(\.first) == [40, 56, 72])
    #expect(answers.ended.isEmpty)
  }

  @Test func `a stage of the earlier pipeline that fails ends the transition`() async throws {
    let clock = ManualClock()
    let client = Self.client(clock, Self.catalogue(clock, fails: true))
    let answers = try await client.run(frames: client.frames(0 ..< 3))
    #expect(answers.pictures.map(\.first) == [40, 200, 200])
    #expect(answers.ended.map(\.end) == [.stageFailed])
  }

  // MARK: Protection

  @Test func `a pipeline that protects is in force from the first frame`() async throws {
    let client = TransitionClient(
      first: [],
      change: .select(
        [.filter("mark", ["protects": .flag(true)])], .fade(.milliseconds(400))),
      image: .noise(.gray8, 8, 8), catalogue: MarkFilter.catalogue())
    let answers = try await client.run(frames: client.frames(0 ..< 4))
    // The filter fills the picture with the number of its frame.
    for (number, picture) in answers.pictures.enumerated() {
      #expect(Set(picture) == [UInt8(number + 1)])
    }
    #expect(answers.ended.map(\.end) == [.protection])
    #expect(answers.ended.first?.firstSequence == 10)
  }

  @Test func `a pipeline that protects is in force until the end`() async throws {
    let client = TransitionClient(
      first: [.filter("mark", ["protects": .flag(true)])],
      change: .select([], .fade(.milliseconds(400))), image: .noise(.gray8, 8, 8),
      catalogue: MarkFilter.catalogue())
    let answers = try await client.run(frames: client.frames(0 ..< 12))
    for (number, picture) in answers.pictures.enumerated() {
      if number < 10 {
        #expect(Set(picture) == [UInt8(number + 2)])
      } else {
        #expect(picture == client.image.inline)
      }
    }
    #expect(answers.ended.map(\.end) == [.protection])
    #expect(answers.ended.first?.firstSequence == 20)
    #expect(answers.frames.map(\.revision) == [1] + Array(repeating: 2, count: 12))
  }

  @Test func `until the end a frame that cannot be protected is not shown`() async throws {
    var client = TransitionClient(
      first: [.filter("mark", ["protects": .flag(true), "failsAt": .number(3)])],
      change: .select([], .fade(.milliseconds(400))), image: .noise(.gray8, 8, 8),
      catalogue: MarkFilter.catalogue())
    client.configure = { $0.failurePolicy = .passThrough }
    let answers = try await client.run(
      frames: [client.frame(0), .with { $0.pause.passThrough = true }, client.frame(1)])
    let last = try #require(answers.frames.last)
    #expect(last.disposition == .degraded && last.hasFailure)
    #expect(last.image.inline != client.image.inline)
  }

  // MARK: Invalid values

  /// A value of a transition that is refused.
  struct InvalidValue: Sendable, CustomTestStringConvertible {
    let field: String
    let value: String
    let limit: String
    let set: @Sendable (inout Sidelight_V1_Transition) -> Void

    init(
      _ field: String, _ value: String, limit: String,
      _ set: @escaping @Sendable (inout Sidelight_V1_Transition) -> Void
    ) {
      (self.field, self.value, self.limit, self.set) = (field, value, limit, set)
    }

    var testDescription: String { "\(self.field): \(self.value)" }
  }

  static let invalidValues = [
    InvalidValue("duration", "", limit: "more than 0, at most 60.0 seconds") {
      $0.clearDuration()
    },
    InvalidValue("duration", "0.0 seconds", limit: "more than 0, at most 60.0 seconds") {
      $0.duration = .init()
    },
    InvalidValue("duration", "61.0 seconds", limit: "more than 0, at most 60.0 seconds") {
      $0.duration = .init(seconds: 61)
    },
    InvalidValue("curve", "9", limit: "LINEAR, EASE_IN, EASE_OUT, EASE_IN_OUT") {
      $0.curve = .UNRECOGNIZED(9)
    },
    InvalidValue("kind", "9", limit: "FADE, WIPE, DISSOLVE") { $0.kind = .UNRECOGNIZED(9) },
    InvalidValue("direction", "9", limit: "RIGHT, LEFT, DOWN, UP") {
      $0.kind = .wipe
      $0.direction = .UNRECOGNIZED(9)
    },
    InvalidValue("direction", "up", limit: "WIPE") { $0.direction = .up },
    InvalidValue("softness", "0.5", limit: "WIPE and DISSOLVE") { $0.softness = 0.5 },
    InvalidValue("softness", "1.5", limit: "0.0 ... 1.0") {
      $0.kind = .wipe
      $0.softness = 1.5
    },
    InvalidValue("softness", "nan", limit: "0.0 ... 1.0") {
      $0.kind = .dissolve
      $0.softness = .nan
    },
    InvalidValue("seed", "3", limit: "DISSOLVE") {
      $0.kind = .wipe
      $0.seed = 3
    },
  ]

  @Test(arguments: invalidValues)
  func `an invalid value of a transition is refused with its field, value and limit`(
    _ invalid: InvalidValue
  ) async throws {
    var transition = Sidelight_V1_Transition(.fade(.seconds(1)))
    invalid.set(&transition)
    var select = Sidelight_V1_ClientMessage.select([.filter("sepiaTone")], requestID: 3)
    select.select.transition = transition
    let activate = Sidelight_V1_ClientMessage.with {
      $0.activate.transition = transition
      $0.activate.requestID = 3
    }
    for (message, name) in [(select, "select"), (activate, "activate")] {
      let answers = try await Self.answers(to: message)
      let error = try #require(answers.errors.first)
      #expect(error.requestID == 3)
      let parts = try #require(try ErrorParts(error.status))
      #expect(parts.code == .invalidArgument)
      #expect(parts.field == "\(name).transition.\(invalid.field)")
      #expect((parts.value ?? "") == invalid.value && parts.limit == invalid.limit)
      #expect(answers.frames.map(\.revision) == [1])
    }
  }

  @Test func `an invalid value of a glide is refused, and the parameters stay`() async throws {
    let update = Sidelight_V1_ClientMessage.update(
      "intensity", .number(0.5), ParameterGlide(.seconds(61)))
    let answers = try await Self.answers(to: update)
    let error = try #require(answers.errors.first)
    let parts = try #require(try ErrorParts(error.status))
    #expect(parts.field == "update.glide.duration" && parts.value == "61.0 seconds")
    #expect(answers.frames.map(\.revision) == [1])
  }

  private static func answers(
    to message: Sidelight_V1_ClientMessage
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse(
          [.open([.filter("sepiaTone")]), message, .frame(1, .noise(.gray8, 8, 8))])
      }
    }
  }

  @Test func `the server states the limit and the feature`() async throws {
    let (limits, features) = try await withServer { _, address in
      try await withStub(address) { stub in
        let info = try await stub.getServerInfo(.init())
        return (info.limits, info.features)
      }
    }
    #expect(limits.maxTransitionDuration == .init(seconds: 60))
    #expect(features.contains("process.transitions"))
  }
}
