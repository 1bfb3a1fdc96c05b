import Foundation
import GRPCCore
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Compositions of the results of several sessions over real HTTP/2, by clients that use only
/// generated code.
@Suite(.timeLimit(.minutes(5))) struct CompositionTests {
  static let gray: [UInt8] = [48, 48, 48, 255]

  static func open(
    _ sources: [Sidelight_V1_CompositionSource], width: UInt32 = 64, height: UInt32 = 32,
    layout: Sidelight_V1_CompositionLayout = .grid, pipeline: Pipeline = [],
    _ configure: (inout Sidelight_V1_Open) -> Void = { _ in }
  ) -> Sidelight_V1_ClientMessage {
    .open(pipeline, policy: .newestWins) {
      $0.label = "grid"
      $0.composition.width = width
      $0.composition.height = height
      $0.composition.frameRate = 60
      $0.composition.layout = layout
      $0.composition.sources = sources
      configure(&$0)
    }
  }

  static func source(_ label: String, participant: String = "") -> Sidelight_V1_CompositionSource {
    .with {
      $0.label = label
      $0.participant = participant
    }
  }

  /// Opens a track whose session filters frames, for as long as `body` runs.
  static func withTrack<Result: Sendable>(
    _ stub: Stub, _ label: String, _ pipeline: Pipeline = [], participant: String = "",
    configure: (inout Sidelight_V1_Open) -> Void = { _ in },
    _ body: @escaping @Sendable (Track) async throws -> Result
  ) async throws -> Result {
    try await Track.with(
      stub,
      .open(pipeline, policy: .newestWins) {
        $0.label = label
        $0.participant = participant
        configure(&$0)
      }, body)
  }

  // MARK: Pixels

  @Test(arguments: [PixelFormat.bgra8, .i420])
  func `sources are scaled into their cells, and black bars keep their shape`(
    format: PixelFormat
  ) async throws {
    let images = [
      Sidelight_V1_Image.noise(format, 48, 27, seed: 1),
      Sidelight_V1_Image.noise(format, 20, 40, seed: 2),
    ]
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.withTrack(stub, "a", [.filter("colorInvert")]) { a in
          try await Self.withTrack(stub, "b", configure: { $0.allowUnmodified = true }) { b in
            let open = Self.open(
              [Self.source("a"), Self.source("b")], layout: .sideBySide)
            try await Track.with(stub, open) { composed in
              let first = try await composed.frame { _ in true }
              #expect(first.sequence == 1 && first.disposition == .passedThrough)
              #expect(first.image.format == .bgra8 && first.captureTimeNs > 0)
              #expect(first.image.pixel(5, 5) == Self.gray && first.image.pixel(60, 5) == Self.gray)
              try await a.show(images[0])
              try await b.show(images[1])
              // 48x27 into 32x32 is 32x18, and 20x40 is 16x32.
              let frame = try await composed.frame {
                $0.image.pixel(5, 15) != Self.gray && $0.image.pixel(50, 5) != Self.gray
              }
              let black: [UInt8] = [0, 0, 0, 255]
              #expect(frame.image.pixel(5, 3) == black && frame.image.pixel(5, 28) == black)
              #expect(frame.image.pixel(34, 5) == black && frame.image.pixel(60, 5) == black)
              let picture = try frame.image.makeFrame()
              for (x, y, width, height, image, pipeline) in [
                (0, 7, 32, 18, images[0], [.filter("colorInvert")]),
                (40, 0, 16, 32, images[1], []),
              ] as [(Int, Int, Int, Int, Sidelight_V1_Image, Pipeline)] {
                let result = try await image.makeFrame().filtered(pipeline)
                let expected = try await result.opaque.filtered(
                  [], shape: FrameShape(width: width, height: height, fit: .stretch),
                  as: FrameEncoding(format: .bgra8))
                let isEqual =
                  picture.region(x, y, width, height) == expected.region(0, 0, width, height)
                #expect(isEqual, "the cell equals the scaled result of the session")
              }
            }
          }
        }
      }
    }
  }

  @Test func `a grid of 16 shows all sources, filtered by the session's own pipeline`()
    async throws
  {
    @Sendable func level(_ index: Int) -> UInt8 { UInt8(60 + 10 * index) }
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.withTracks(16, stub) { tracks in
          for (index, track) in tracks.enumerated() {
            try await track.show(.gray(8, 8, level: level(index)))
          }
          let sources = (0 ..< 16).map { Self.source("\($0)") }
          try await Track.with(
            stub, Self.open(sources, width: 64, height: 64, pipeline: [.filter("colorInvert")])
          ) { composed in
            // A result that came before the composition is not kept.
            let first = try await composed.frame { _ in true }
            #expect(first.disposition == .filtered)
            for (index, track) in tracks.enumerated() {
              try await track.show(.gray(8, 8, level: level(index)))
            }
            let levels = (0 ..< 16).map {
              [255 - level($0), 255 - level($0), 255 - level($0), 255]
            }
            let frame = try await composed.frame { frame in
              (0 ..< 16).allSatisfy { index in
                frame.image.pixel(16 * (index % 4) + 8, 16 * (index / 4) + 8) == levels[index]
              }
            }
            let stats = try await composed.finish()
            #expect(stats.received == stats.outcomes && stats.received >= frame.sequence)
            #expect(stats.bytesIn == 0 && stats.bytesOut > 0)
          }
        }
      }
    }
  }

  @Test func `picture in picture, cells of their own, and changes while the session runs`()
    async throws
  {
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.withTracks(3, stub) { tracks in
          let sources = (0 ..< 3).map { Self.source("\($0)") }
          try await Track.with(
            stub, Self.open(sources, layout: .pictureInPicture) { $0.composition.fit = .stretch }
          ) { composed in
            _ = try await composed.frame { _ in true }
            for (index, track) in tracks.enumerated() {
              try await track.show(.gray(8, 8, level: UInt8(100 + index)))
            }
            func levels(_ image: Sidelight_V1_Image, _ points: [(Int, Int)]) -> [UInt8] {
              points.map { image.pixel($0.0, $0.1)[0] }
            }
            _ = try await composed.frame {
              levels($0.image, [(2, 2), (31, 30), (63, 31), (48, 24), (47, 24), (32, 31)])
                == [100, 100, 101, 101, 102, 102]
            }
            var changed = Sidelight_V1_SetComposition()
            changed.requestID = 7
            changed.composition = Self.open(sources, width: 40, height: 20).open.composition
            changed.composition.sources[2].cell = .with {
              $0.x = 0.5
              $0.y = 0.9
              $0.width = 0.5
              $0.height = 0.1
            }
            composed.send(.with { $0.setComposition = changed })
            let accepted = try await composed.answer()
            let expected = Sidelight_V1_Accepted.with {
              $0.requestID = 7
              $0.revision = 1
            }
            #expect(accepted == .accepted(expected))
            // Two columns: 8x8 into 20x10 is 10x10.
            _ = try await composed.frame {
              $0.image.width == 40 && $0.image.height == 20
                && levels($0.image, [(10, 5), (1, 5), (30, 5), (30, 19), (30, 17)])
                  == [100, 0, 101, 102, 0]
            }
            changed.composition.sources = []
            composed.send(.with { $0.setComposition = changed })
            guard case .error(let error) = try await composed.answer() else {
              Issue.record("a composition without sources was accepted")
              return
            }
            #expect(
              error.status.message
                == "set_composition.composition.sources: is empty; a composition needs a source")
            // The earlier one goes on.
            _ = try await composed.frame { $0.image.width == 40 }
          }
        }
      }
    }
  }

  @Test(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"))
  func `compositions of encoded and JPEG sources are encoded, and have named outputs`()
    async throws
  {
    let stream = try EncodedStream(.vp8, 96, 64, count: 3)
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.withTrack(stub, "video") { video in
          try await Self.withTrack(stub, "file", [.filter("colorInvert")]) { file in
            let open = Self.open([Self.source("video"), Self.source("file")]) { open in
              open.outputs = ["vp8", "raw"].map { name in
                .with {
                  $0.name = name
                  $0.output.format = name == "vp8" ? .vp8 : .i420
                }
              }
            }
            try await Track.with(stub, open) { composed in
              _ = try await composed.frame(of: "raw") { _ in true }
              for image in stream.units.indices.map({ stream.image($0) }) {
                try await video.show(image)
              }
              let image = try Sidelight_V1_Image.jpeg(64, 64, quality: 100)
              try await file.show(image)
              let raw = try await composed.frame(of: "raw") { frame in
                // The luma of the placeholder is 16 + 48 * 219 / 255.
                frame.image.inline[16 * 64 + 40] != 57 && frame.image.inline[16 * 64 + 8] != 57
              }
              let inverted = try await image.decoded().filtered([.filter("colorInvert")])
              let expected = try await inverted.filtered(
                [], shape: FrameShape(width: 32, height: 32),
                as: FrameEncoding(format: .i420))
              let difference =
                Int(raw.image.inline[16 * 64 + 48]) - Int(expected.bytes[16 * 32 + 16])
              #expect(abs(difference) < 12, "\(difference)")
              #expect(composed.encoded.first?.encoded.keyFrame == true)
              let decoded = try EncodedStream.decode(composed.encoded, .vp8)
              #expect(decoded.allSatisfy { $0.size == FrameSize(width: 64, height: 32) })
            }
          }
        }
      }
    }
  }

  // MARK: Sources

  @Test func `a source that stalls keeps its picture while the others go on`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.withTracks(2, stub) { tracks in
          try await Track.with(stub, Self.open([Self.source("0"), Self.source("1")])) { composed in
            _ = try await composed.frame { _ in true }
            try await tracks[0].show(.gray(8, 8, level: 200))
            for level in UInt8(100) ..< 110 {
              try await tracks[1].show(.gray(8, 8, level: level))
              let frame = try await composed.frame { $0.image.pixel(48, 16)[0] == level }
              #expect(frame.image.pixel(16, 16)[0] == 200)
            }
          }
        }
      }
    }
  }

  @Test func `a source that ends or pauses shows a plain cell, and comes back`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await Track.with(
          stub, Self.open([Self.source("cam", participant: "ana"), Self.source("b")])
        ) { composed in
          for level in [UInt8(100), 150] {
            try await Self.withTrack(stub, "cam", participant: "ana") { track in
              try await track.showUntilComposed(.gray(8, 8, level: level), composed)
              track.send(.with { $0.pause = Sidelight_V1_Pause() })
              _ = try await composed.frame { $0.image.pixel(16, 16) == Self.gray }
              track.send(.with { $0.resume = Sidelight_V1_Resume() })
              try await track.showUntilComposed(.gray(8, 8, level: level), composed)
              track.send(.with { $0.pause.passThrough = true })
              try await track.showUntilComposed(.gray(8, 8, level: level + 1), composed)
            }
            _ = try await composed.frame { $0.image.pixel(16, 16) == Self.gray }
          }
        }
      }
    }
  }

  @Test func `only sessions of the same caller are sources`() async throws {
    try await withServer(authenticator: TokenTable.three) { _, address in
      try await withStub(address) { stub in
        let open = Self.open([Self.source("cam"), Self.source("other", participant: "ana")])
        let track = Sidelight_V1_ClientMessage.open(policy: .newestWins) { $0.label = "cam" }
        try await Track.with(stub, track, as: "bob") { bob in
          try await Track.with(stub, open, as: "alice") { composed in
            _ = try await composed.frame { _ in true }
            try await bob.show(.gray(8, 8, level: 200))
            try await Track.with(
              stub,
              .open(policy: .newestWins) {
                $0.label = "other"
                $0.participant = "ana"
              }, as: "alice"
            ) { ana in
              let frame = try await ana.showUntilComposed(
                .gray(8, 8, level: 120), composed, at: 48)
              #expect(frame.image.pixel(16, 16) == Self.gray)
            }
          }
        }
      }
    }
  }

  // MARK: Privacy

  @Test func `an override of a source hides its earlier pictures, also those that wait`()
    async throws
  {
    try await withServer { _, address in
      try await withStub(address) { stub in
        try await Self.withTrack(stub, "cam", participant: "ana") { track in
          let open = Self.open([Self.source("cam", participant: "ana"), Self.source("b")]) {
            $0.outputWindow = 1
          }
          try await Track.with(stub, open, acknowledges: false) { composed in
            // The next frames wait for the acknowledgement of the last one.
            var last: UInt64 = 0
            repeat {
              try await track.show(.gray(8, 8, level: 250))
              let frame = try await composed.frame { _ in true }
              last = frame.sequence
              if frame.image.pixel(16, 16)[0] == 250 { break }
              composed.acknowledge(last)
            } while true
            try await ParticipantOverrideTests.override(
              "ana", at: address, with: [.filter("colorInvert")])
            composed.acknowledge(last)
            composed.acknowledgesAll = true
            let hidden = try await composed.frame { _ in true }
            #expect(hidden.image.pixel(16, 16) == Self.gray)
            try await track.show(.gray(8, 8, level: 250))
            let next = try await composed.frame { $0.image.pixel(16, 16) != Self.gray }
            #expect(next.image.pixel(16, 16) == [5, 5, 5, 255])
          }
        }
      }
    }
  }

  @Test func `a pipeline that protects hides a source until it has filtered a frame`()
    async throws
  {
    let image = Sidelight_V1_Image.with {
      $0.format = .gray8
      $0.width = 8
      $0.height = 8
      $0.inline = Data(repeating: 250, count: 64)
    }
    try await withServer(catalogue: MarkFilter.catalogue()) { _, address in
      try await withStub(address) { stub in
        try await Self.withTrack(stub, "cam") { track in
          try await Track.with(stub, Self.open([Self.source("cam"), Self.source("b")])) {
            composed in
            try await track.showUntilComposed(image, composed)
            track.send(.select([.filter("mark", ["protects": .flag(true)])]))
            _ = try await composed.frame { $0.image.pixel(16, 16) == Self.gray }
            try await track.show(image)
            let frame = try await composed.frame { $0.image.pixel(16, 16) != Self.gray }
            #expect(frame.image.pixel(16, 16)[0] != 250)
            // Without protection the last result stays until the next one.
            track.send(.select([]))
            try await track.showUntilComposed(image, composed)
          }
        }
      }
    }
  }

  // MARK: Errors

  /// A request that is refused, and the error's field and reason.
  struct Refused: Sendable, CustomTestStringConvertible {
    var field: String
    var reason: String
    var change: @Sendable (inout Sidelight_V1_Open) -> Void
    var testDescription: String { "\(self.field) \(self.reason)" }
  }

  static let refused: [Refused] = [
    Refused(field: "sources", reason: "is empty; a composition needs a source") {
      $0.composition.sources = []
    },
    Refused(field: "sources", reason: "has 17 entries; the limit is 16") {
      $0.composition.sources = (0 ..< 17).map { source("\($0)") }
    },
    Refused(field: "sources[2].label", reason: "'a' is the same session as sources[0]") {
      $0.composition.sources = [source("a"), source("b"), source("a")]
    },
    Refused(
      field: "sources[0].label",
      reason: "'grid' names the session itself; name another participant or label"
    ) { $0.composition.sources = [source("grid")] },
    Refused(field: "sources[0].participant", reason: "has 129 bytes; the limit is 128") {
      $0.composition.sources = [source("a", participant: String(repeating: "a", count: 129))]
    },
    Refused(field: "width", reason: "is 1, the range is 2 to 16384") { $0.composition.width = 1 },
    Refused(field: "height", reason: "is 0, the range is 2 to 16384") { $0.composition.height = 0 },
    Refused(field: "width", reason: "16000x16000 is 256000000 pixels, the limit is 36000000") {
      $0.composition.width = 16000
      $0.composition.height = 16000
    },
    Refused(field: "frame_rate", reason: "is 121.0, the range is 1 to 120, or 0 for 30") {
      $0.composition.frameRate = 121
    },
    Refused(field: "layout", reason: "is 9, which is not a layout") {
      $0.composition.layout = .UNRECOGNIZED(9)
    },
    Refused(field: "fit", reason: "is 9, which is not a fit mode") {
      $0.composition.fit = .UNRECOGNIZED(9)
    },
    Refused(
      field: "sources[0].cell.width", reason: "is 0.75; it must be more than 0 and at most 0.5"
    ) {
      $0.composition.sources[0].cell = .with {
        $0.x = 0.5
        $0.width = 0.75
        $0.height = 1
      }
    },
    Refused(field: "sources[0].cell.y", reason: "is nan, the range is 0 to 1") {
      $0.composition.sources[0].cell = .with {
        $0.y = .nan
        $0.width = 0.5
      }
    },
  ]

  @Test(arguments: CompositionTests.refused)
  func `an invalid composition is refused with its field`(_ refused: Refused) async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let message = Self.open([Self.source("a")], refused.change)
        let error = await #expect(throws: RPCError.self) { _ = try await stub.converse([message]) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "open.composition.\(refused.field): \(refused.reason)")
      }
    }
  }

  @Test func `frames, sources that compose, and options of other sessions are refused`()
    async throws
  {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let open = Self.open([Self.source("a")])
        for (message, code, text) in [
          (
            Self.open([Self.source("a")]) { $0.dropPolicy = .neverDrop }, .invalidArgument,
            "open.drop_policy: is NEVER_DROP, and a composition is live; leave one of them out"
          ),
          (
            Self.open([Self.source("a")]) { $0.allowUnmodified = true }, .invalidArgument,
            "open.allow_unmodified: is set beside open.composition, whose frames the client does "
              + "not have; leave it out"
          ),
        ] as [(Sidelight_V1_ClientMessage, RPCError.Code, String)] {
          let error = await #expect(throws: RPCError.self) {
            _ = try await stub.converse([message])
          }
          #expect(error?.code == code && error?.message == text)
        }
        let sent = await #expect(throws: RPCError.self) {
          _ = try await stub.converse([open, .frame(1, .gray(8, 8))])
        }
        #expect(sent?.code == .failedPrecondition)
        #expect(
          sent?.message
            == "frame: was sent to a session with a composition, which makes its own frames")
        try await Track.with(stub, open) { composed in
          _ = try await composed.frame { _ in true }
          let cycle = await #expect(throws: RPCError.self) {
            _ = try await stub.converse([
              Self.open([Self.source("a"), Self.source("grid")]) { $0.label = "second" }
            ])
          }
          #expect(cycle?.code == .failedPrecondition)
          #expect(
            cycle?.message
              == "open.composition.sources[1]: is a composition, which cannot be a source; name its "
              + "sources instead")
        }
        let answers = try await stub.converse([
          .open(), .with { $0.setComposition.composition = open.open.composition },
        ])
        #expect(
          answers.errors.map(\.status.message) == [
            "set_composition.composition: is sent to a session that was opened without one"
          ])
      }
    }
  }

  // MARK: Helpers

  /// Opens tracks labelled with their indices.
  static func withTracks(
    _ count: Int, _ stub: Stub, _ tracks: [Track] = [],
    _ body: @escaping @Sendable ([Track]) async throws -> Void
  ) async throws {
    guard tracks.count < count else { return try await body(tracks) }
    try await Self.withTrack(stub, "\(tracks.count)") { track in
      try await Self.withTracks(count, stub, tracks + [track], body)
    }
  }
}

/// A session of generated code, in which a test sends and receives individual messages.
final class Track: @unchecked Sendable {  // one task uses it at a time
  private var answers: RPCAsyncSequence<Sidelight_V1_ServerMessage, any Error>.AsyncIterator
  private let continuation: AsyncStream<Sidelight_V1_ClientMessage>.Continuation
  private var sequence: UInt64 = 0
  /// Whether frames are acknowledged when they are received.
  var acknowledgesAll: Bool
  /// The received pictures of VP8.
  private(set) var encoded: [Sidelight_V1_Image] = []

  private init(
    _ answers: RPCAsyncSequence<Sidelight_V1_ServerMessage, any Error>,
    _ continuation: AsyncStream<Sidelight_V1_ClientMessage>.Continuation, acknowledges: Bool
  ) {
    self.answers = answers.makeAsyncIterator()
    self.continuation = continuation
    self.acknowledgesAll = acknowledges
  }

  /// Opens a session for as long as `body` runs.
  static func with<Result: Sendable>(
    _ stub: Stub, _ open: Sidelight_V1_ClientMessage, as caller: String? = nil,
    acknowledges: Bool = true, _ body: @escaping @Sendable (Track) async throws -> Result
  ) async throws -> Result {
    let (requests, continuation) = AsyncStream<Sidelight_V1_ClientMessage>.makeStream()
    let metadata = caller.map { AuthenticationTests.bearer($0) } ?? [:]
    return try await stub.process(metadata: metadata, options: largeMessages) { writer in
      try await writer.write(open)
      for await message in requests { try await writer.write(message) }
    } onResponse: { response in
      defer { continuation.finish() }
      let track = Track(response.messages, continuation, acknowledges: acknowledges)
      guard case .opened? = try await track.answers.next()?.kind else {
        throw RPCError(code: .internalError, message: "The session did not open.")
      }
      let result = try await body(track)
      _ = try await track.finish()
      return result
    }
  }

  func send(_ message: Sidelight_V1_ClientMessage) { self.continuation.yield(message) }

  func acknowledge(_ sequence: UInt64) { self.send(.with { $0.ack.sequence = sequence }) }

  /// Closes the client's side, and returns the final counts.
  @discardableResult
  func finish() async throws -> Sidelight_V1_Stats {
    self.continuation.finish()
    var stats = Sidelight_V1_Stats()
    while let message = try await self.answers.next() {
      if case .stats(let last)? = message.kind { stats = last }
    }
    return stats
  }

  private func next() async throws -> Sidelight_V1_ServerMessage.OneOf_Kind? {
    guard let message = try await self.answers.next() else {
      throw RPCError(code: .internalError, message: "The server has closed the stream.")
    }
    if case .frame(let frame)? = message.kind {
      if self.acknowledgesAll { self.acknowledge(frame.sequence) }
      if frame.image.format == .vp8 { self.encoded.append(frame.image) }
    }
    return message.kind
  }

  /// Sends a frame and waits for its outcome.
  func show(_ image: Sidelight_V1_Image) async throws {
    self.sequence += 1
    self.send(.frame(self.sequence, image))
    while true {
      switch try await self.next() {
      case .frame(let frame)? where frame.sequence == self.sequence: return
      case .dropped(let run)? where run.lastSequence == self.sequence: return
      default: continue
      }
    }
  }

  /// Sends a frame, as often as needed, until the composed picture shows its first byte.
  @discardableResult
  func showUntilComposed(
    _ image: Sidelight_V1_Image, _ composed: Track, at x: Int = 16
  ) async throws -> Sidelight_V1_FilteredFrame {
    while true {
      try await self.show(image)
      let frame = try await composed.frame { _ in true }
      if frame.image.pixel(x, 16)[0] == image.inline[0] { return frame }
    }
  }

  /// Returns the next frame of an output that satisfies a condition.
  func frame(
    of output: String = "", where isWanted: (Sidelight_V1_FilteredFrame) -> Bool
  ) async throws -> Sidelight_V1_FilteredFrame {
    while true {
      if case .frame(let frame)? = try await self.next(), frame.output == output, isWanted(frame) {
        return frame
      }
    }
  }

  /// Returns the next answer to a change.
  func answer() async throws -> Sidelight_V1_ServerMessage.OneOf_Kind {
    while true {
      switch try await self.next() {
      case .accepted(let accepted)?: return .accepted(accepted)
      case .error(let error)?: return .error(error)
      default: continue
      }
    }
  }
}

extension Sidelight_V1_Image {
  /// The bytes of a pixel of a BGRA picture.
  fileprivate func pixel(_ x: Int, _ y: Int) -> [UInt8] {
    let start = self.inline.startIndex + 4 * (y * Int(self.width) + x)
    return [UInt8](self.inline[start ..< start + 4])
  }
}

extension Frame {
  /// The rows of a rectangle of a picture of four bytes per pixel.
  fileprivate func region(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [[UInt8]] {
    (y ..< y + height).map { row in
      self.withRow(row) { bytes in
        bytes.withUnsafeBytes { [UInt8]($0[(4 * x) ..< (4 * (x + width))]) }
      }
    }
  }

  /// The frame on black.
  fileprivate var opaque: Frame { self.onBlack(in: BufferPool()) }
}
