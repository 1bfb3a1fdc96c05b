import GRPCCore
import SidelightKernels
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Unreadable frames: they end with a diagnostic, and the stream continues.
@Suite(.timeLimit(.minutes(5))) struct InvalidFrameTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 33, 17)

  static let badFrames: [(name: String, names: String, frame: @Sendable () -> Sidelight_V1_Image)] =
    [
      ("no format", "format", { .with { $0.width = 4 } }),
      (
        "an unknown format", "format",
        {
          var image = Self.image
          image.format = .UNRECOGNIZED(99)
          return image
        }
      ),
      (
        "width 0", "width",
        {
          var image = Self.image
          image.width = 0
          return image
        }
      ),
      (
        "width over the limit", "16384",
        {
          var image = Self.image
          image.width = 16385
          return image
        }
      ),
      (
        "more pixels than the limit", "36000000",
        {
          var image = Self.image
          image.width = 16384
          image.height = 16384
          return image
        }
      ),
      (
        "a byte short", "inline",
        {
          var image = Self.image
          image.inline.removeLast()
          return image
        }
      ),
      (
        "a byte long", "inline",
        {
          var image = Self.image
          image.inline.append(0)
          return image
        }
      ),
      (
        "no pixels", "pixels",
        {
          var image = Self.image
          image.pixels = nil
          return image
        }
      ),
      (
        "a stride under the width", "planes[0].stride",
        {
          var image = Self.image
          image.planes = [.with { $0.stride = 131 }]
          return image
        }
      ),
      (
        "a plane past the end", "planes[0]",
        {
          var image = Self.image
          image.planes = [.with { $0.stride = 1 << 31 }]
          return image
        }
      ),
      (
        "one plane too many", "planes",
        {
          var image = Self.image
          image.planes = Array(repeating: .with { $0.stride = 132 }, count: 2)
          return image
        }
      ),
      (
        "planes that overlap", "overlap",
        {
          var image = Sidelight_V1_Image.noise(.nv12, 8, 8)
          image.planes = Array(repeating: .with { $0.stride = 8 }, count: 2)
          return image
        }
      ),
      (
        "rotation 45", "rotation",
        {
          var image = Self.image
          image.orientation.rotation = .UNRECOGNIZED(45)
          return image
        }
      ),
    ]

  @Test
  func `an invalid frame is dropped with a diagnostic, and the stream continues`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse(
          [.open([.filter("sepiaTone")])]
            + Self.badFrames.enumerated().map { .frame(UInt64($0.offset + 1), $0.element.frame()) }
            + [.frame(1000, Self.image)])
      }
    }
    #expect(answers.drops.count == Self.badFrames.count)
    for (drop, bad) in zip(answers.drops, Self.badFrames) {
      #expect(drop.reason == .invalidFrame, "\(bad.name)")
      #expect(drop.stage == .arrival, "\(bad.name)")
      #expect(
        drop.diagnostic.message.contains(bad.names), "\(bad.name): \(drop.diagnostic.message)")
    }
    #expect(answers.frames.map(\.sequence) == [1000])
    #expect(answers.finalStats?.outcomes == UInt64(Self.badFrames.count + 1))
  }

  @Test
  func `frames whose sequence does not increase are dropped, and the stream continues`()
    async throws
  {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse(
          [.open()] + [5, 5, 4, 6, .max, 1].map { .frame($0, Self.image) })
      }
    }
    #expect(answers.frames.map(\.sequence) == [5, 6, .max])
    #expect(answers.drops.map(\.firstSequence) == [5, 4, 1])
    #expect(answers.drops.allSatisfy { $0.diagnostic.message.contains("frame.sequence") })
  }

  @Test
  func `more than 30 errors in a row end the session; a valid frame resets the count`() async throws
  {
    let bad = Sidelight_V1_ClientMessage.frame(0, Sidelight_V1_Image())
    try await withServer { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse(
          [.open()] + Array(repeating: bad, count: 30) + [.frame(1, Self.image)]
            + Array(repeating: bad, count: 30))
        #expect(answers.frames.count == 1)
        let error = await #expect(throws: RPCError.self) {
          try await stub.converse([.open()] + Array(repeating: bad, count: 31))
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("30") == true)
      }
    }
  }
}
