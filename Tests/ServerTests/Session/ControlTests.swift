import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the changes that a participant may make in the middle of a session.
@Suite(.timeLimit(.minutes(5))) struct ControlTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 12)
  static let looks: Pipeline = [
    Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
    Stage(.filter(FilterCall(name: "colorInvert")), id: "negative"),
  ]

  static func converse(
    _ messages: [Sidelight_V1_ClientMessage]
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await withServer { _, address in
      try await withStub(address) { stub in try await stub.converse(messages) }
    }
  }

  /// Returns the result of a pipeline for the image, in a separate session.
  static func pixels(_ pipeline: Pipeline) async throws -> Sidelight_V1_Image {
    let answers = try await Self.converse([.open(pipeline), .frame(1, Self.image)])
    return try #require(answers.frames.first).image
  }

  @Test
  func `an update changes the parameters that it names, by stage id or path, in either spelling`()
    async throws
  {
    let answers = try await Self.converse([
      .open(Self.looks), .frame(1, Self.image),
      .with {
        $0.update.requestID = 5
        $0.update.stages = [
          .with {
            $0.stage = "warm"
            $0.parameters = ["inputIntensity": .with { $0.number = 0.25 }]
          }
        ]
      },
      .frame(2, Self.image),
      .with {
        $0.update.stages = [
          .with {
            $0.stage = "stages[0]"
            $0.parameters = ["intensity": .with { $0.number = 0 }]
          }
        ]
      },
      .frame(3, Self.image),
    ])
    #expect(answers.errors.isEmpty)
    #expect(answers.applied.map(\.requestID) == [0, 5, 0])
    #expect(answers.frames.map(\.revision) == [1, 2, 3])
    var weak = Self.looks
    try weak.setParameters(["intensity": .number(0.25)], stage: "warm")
    #expect(answers.frames[1].image == (try await Self.pixels(weak)))
    #expect(answers.frames[2].image == (try await Self.pixels([.filter("colorInvert")])))
  }

  @Test
  func `an update that is invalid for one stage changes none, and the error names the field`()
    async throws
  {
    let answers = try await Self.converse([
      .open(Self.looks),
      .with {
        $0.update.requestID = 6
        $0.update.stages = [
          .with {
            $0.stage = "warm"
            $0.parameters = ["intensity": .with { $0.number = 0.5 }]
          },
          .with { $0.stage = "worm" },
        ]
      },
      .frame(1, Self.image),
    ])
    let error = try #require(answers.errors.first)
    #expect(error.requestID == 6)
    #expect(error.status.message.contains("update.stages[1].stage"))
    #expect(error.status.message.contains("did you mean warm?"))
    #expect(answers.frames.map(\.revision) == [1])
    #expect(answers.frames.first?.image == (try await Self.pixels(Self.looks)))
  }

  @Test
  func `an invalid value is refused with its path, and the old value stays in effect`() async throws
  {
    let answers = try await Self.converse([
      .open(Self.looks),
      .with {
        $0.update.stages = [
          .with {
            $0.stage = "warm"
            $0.parameters = ["intensity": .with { $0.number = .nan }]
          }
        ]
      },
      .frame(1, Self.image),
    ])
    #expect(answers.errors.first?.status.message.contains("intensity") == true)
    #expect(answers.frames.map(\.revision) == [1])
  }

  @Test func `a thousand activations lose no frame and mix no pipelines`() async throws {
    let both = try await Self.pixels(Self.looks)
    let warm = try await Self.pixels([.filter("sepiaTone")])
    var messages: [Sidelight_V1_ClientMessage] = [.open(Self.looks)]
    for number: UInt64 in 1 ... 1000 {
      messages.append(
        .with {
          $0.activate.stages = ["negative": number.isMultiple(of: 2)]
          $0.activate.requestID = number
        })
      messages.append(.frame(number, Self.image))
    }
    let answers = try await Self.converse(messages)
    #expect(answers.drops.isEmpty)
    #expect(answers.errors.isEmpty)
    #expect(answers.frames.map(\.sequence) == Array(1 ... 1000))
    #expect(answers.frames.map(\.revision) == Array(2 ... 1001))
    #expect(answers.applied.map(\.requestID) == Array(1 ... 1000))
    #expect(
      answers.frames.allSatisfy { $0.image == ($0.sequence.isMultiple(of: 2) ? both : warm) })
  }

  @Test func `if_revision applies to update and activate as to select`() async throws {
    let answers = try await Self.converse([
      .open(Self.looks),
      .with {
        $0.activate.stages = ["warm": false]
        $0.activate.ifRevision = 7
      },
      .with {
        $0.update.ifRevision = 8
        $0.update.requestID = 2
      },
      .with {
        $0.activate.stages = ["warm": false]
        $0.activate.ifRevision = 1
      },
      .frame(1, Self.image),
    ])
    #expect(answers.errors.map(\.status.code) == [10, 10], "ABORTED")
    #expect(answers.frames.map(\.revision) == [2])
  }

  @Test func `a pause drops frames with PAUSED until the session is resumed`() async throws {
    let answers = try await Self.converse([
      .open(Self.looks), .with { $0.pause = .init() }, .frame(1, Self.image),
      .frame(2, Self.image), .with { $0.resume = .init() }, .frame(3, Self.image),
    ])
    // One notice or two, as the writer was there in between or not.
    #expect(Set(answers.drops.map(\.reason)) == [.paused])
    #expect(answers.drops.reduce(0) { $0 + $1.count } == 2)
    #expect(answers.frames.map(\.sequence) == [3])
    // A state tells of all changes up to its writing.
    #expect(answers.states.last == .running)
    #expect(answers.finalStats?.outcomes == 3)
  }

  @Test func `a pause with pass_through returns frames unchanged`() async throws {
    let answers = try await Self.converse([
      .open(Self.looks), .with { $0.pause.passThrough = true }, .frame(1, Self.image),
      .with { $0.pause.passThrough = false }, .frame(2, Self.image),
      .with { $0.resume = .init() }, .frame(3, Self.image),
    ])
    #expect(answers.frames.map(\.sequence) == [1, 3])
    #expect(answers.frames.map(\.disposition) == [.passedThrough, .filtered])
    #expect(answers.frames.first?.image == Self.image)
    #expect(answers.dropRuns.map(\.firstSequence) == [2])
  }

  @Test func `formats and sizes may change between any two frames`() async throws {
    let formats = PixelFormat.allCases
    var messages: [Sidelight_V1_ClientMessage] = [.open([.filter("colorInvert")])]
    for number in 0 ..< 60 {
      messages.append(
        .frame(
          UInt64(number + 1),
          .noise(formats[number % formats.count], 3 + number % 7 * 5, 1 + number % 11)))
    }
    let answers = try await Self.converse(messages)
    #expect(answers.frames.map(\.sequence) == Array(1 ... 60))
    for (number, frame) in answers.frames.enumerated() {
      #expect(frame.image.width == UInt32(3 + number % 7 * 5))
      #expect(frame.image.height == UInt32(1 + number % 11))
    }
  }

  @Test
  func `frames of analysis-only sessions come back without pixels, unfiltered`() async throws {
    let answers = try await Self.converse([
      .open(Self.looks) { $0.analysisOnly = true }, .frame(1, Self.image),
    ])
    let frame = try #require(answers.frames.first)
    #expect(frame.disposition == .passedThrough)
    #expect(frame.image.pixels == nil)
    #expect(frame.image.width == 16)
  }

  @Test
  func
    `a client that does not acknowledge gets the pictures of its window, and the newest afterwards`()
    async throws
  {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          var pongs = pongs.makeAsyncIterator()
          try await writer.write(.open(policy: .newestWins) { $0.outputWindow = 2 })
          for sequence: UInt64 in 1 ... 6 {
            try await writer.write(.frame(sequence, Self.image))
            // The server has handled the frame when it has answered the ping after it, and its
            // worker has delivered it: the answer to the second ping is the gate of both.
            for _ in 0 ..< 2 {
              try await writer.write(.with { $0.ping.id = sequence })
              await pongs.next()
            }
          }
          try await writer.write(.with { $0.ack.sequence = 2 })
        }
      }
    }
    let sequences = answers.frames.map(\.sequence)
    #expect(sequences.prefix(2) == [1, 2])
    #expect(sequences.last == 6)
    #expect(
      answers.drops.allSatisfy {
        $0.reason == .outputSuperseded || $0.reason == .noCredit || $0.reason == .superseded
      })
    #expect(answers.finalStats?.outcomes == 6)
  }

  @Test func `a deep mailbox keeps as many results for a client that acknowledges`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          var pongs = pongs.makeAsyncIterator()
          try await writer.write(
            .open(policy: .newestWins) { ($0.outputWindow, $0.mailboxDepth) = (1, 3) })
          for sequence: UInt64 in 1 ... 4 {
            try await writer.write(.frame(sequence, Self.image))
            // As above.
            for _ in 0 ..< 2 {
              try await writer.write(.with { $0.ping.id = sequence })
              await pongs.next()
            }
          }
          for sequence: UInt64 in 1 ... 3 {
            try await writer.write(.with { $0.ack.sequence = sequence })
          }
        }
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 2, 3, 4])
    #expect(answers.drops.isEmpty)
  }
}
