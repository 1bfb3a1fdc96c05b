import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Testing

/// Sessions whose pixels are in shared memory.
@Suite(.timeLimit(.minutes(5)), .enabled(if: SharedMemoryConfiguration.isSupported))
struct SharedMemoryTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)

  @Test func `a frame that passes through is returned in its own slot, unchanged`() async throws {
    try await withServer(.withSharedMemory()) { server, address in
      try await withStub(address) { stub in
        try await stub.withRing(inputs: 1, outputs: 1) { client in
          for sequence: UInt64 in 1 ... 50 {
            let sent = Sidelight_V1_Image.noise(.bgra8, 64, 48, padding: 4, seed: sequence)
            let placed = client.put(sent, in: 0)
            client.send(.frame(sequence, placed))
            let frame = try await client.receiveFrame()
            #expect(frame.sequence == sequence)
            #expect(frame.disposition == .passedThrough)
            #expect(frame.image == placed)
            let pixels = client.ring.buffer(slot: 0, byteCount: sent.inline.count)
            #expect(pixels.bytesForTest == [UInt8](sent.inline))
          }
          // The server neither allocated memory for pixels nor copied them.
          #expect(server.poolStatistics.misses == 0)
          let stats = try await client.finish()
          #expect(stats.passedThrough == 50)
          #expect(stats.bytesIn == 50 * UInt64((64 * 4 + 4) * 48))
        }
      }
    }
  }

  @Test
  func `a frame that passes through is returned as unmodified if the client allows it`()
    async throws
  {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing(inputs: 1) {
          $0.allowUnmodified = true
        } _: { client in
          for sequence: UInt64 in 1 ... 3 {
            client.send(.frame(sequence, client.put(Self.image, in: 0)))
            let frame = try await client.receiveFrame()
            #expect(frame.unmodified)
            #expect(frame.image.pixels == nil)
          }
        }
      }
    }
  }

  @Test(
    arguments: PixelFormat.allCases)
  func `a filter's result for a slot equals its result inline, byte for byte`(_ format: PixelFormat)
    async throws
  {
    let pipeline: Pipeline = [
      .filter("sepiaTone"), .filter("gaussianBlur", ["radius": .number(3)]), .filter("vignette"),
    ]
    let images = (1 ... 4).map {
      Sidelight_V1_Image.noise(format, 61, 47, padding: 5, seed: UInt64($0))
    }
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        let inline = try await stub.converse(
          [.open(pipeline)] + images.enumerated().map { .frame(UInt64($0 + 1), $1) })
        try await stub.withRing(pipeline, inputs: 1, outputs: 1) { client in
          for (index, image) in images.enumerated() {
            client.send(.frame(UInt64(index + 1), client.put(image, in: 0)))
            let frame = try await client.receiveFrame()
            #expect(frame.disposition == .filtered)
            #expect(frame.image.sharedMemory.slot == 1)
            #expect(try client.bytes(of: frame.image) == [UInt8](inline.frames[index].image.inline))
            client.send(.with { $0.ack.sequence = frame.sequence })
          }
        }
      }
    }
  }

  @Test func `pictures are sent inline while the client holds all output slots`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("colorInvert")], inputs: 1, outputs: 2) { client in
          var slots: [UInt32?] = []
          var first: [UInt8] = []
          for sequence: UInt64 in 1 ... 6 {
            let image = Sidelight_V1_Image.noise(.gray8, 16, 16, seed: sequence)
            client.send(.frame(sequence, client.put(image, in: 0)))
            let frame = try await client.receiveFrame()
            #expect(
              try client.bytes(of: frame.image) == image.inline.map { 255 - $0 }, "\(sequence)")
            slots.append(frame.image.isInSlot ? frame.image.sharedMemory.slot : nil)
            if sequence == 1 { first = try client.bytes(of: frame.image) }
            if sequence == 3 {
              // Of the two, the first is still being looked at.
              client.send(
                .with {
                  $0.ack.sequence = 2
                  $0.ack.heldSlots = [1, 99]
                })
            }
            if sequence == 4 { client.send(.with { $0.ack.sequence = 4 }) }
          }
          #expect(slots == [1, 2, nil, 2, 1, 2])
          #expect(first.count == 256)
        }
      }
    }
  }

  @Test
  func `a slot that the client holds is not written, even if it acknowledges others`() async throws
  {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("colorInvert")], inputs: 1, outputs: 2) { client in
          client.send(.frame(1, client.put(.noise(.gray8, 16, 16, seed: 1), in: 0)))
          let held = try await client.receiveFrame().image
          let pixels = try client.bytes(of: held)
          for sequence: UInt64 in 2 ... 20 {
            client.send(.frame(sequence, client.put(.noise(.gray8, 16, 16, seed: sequence), in: 0)))
            let frame = try await client.receiveFrame()
            #expect(frame.image.isInSlot)
            #expect(frame.image.sharedMemory.slot != held.sharedMemory.slot)
            client.send(
              .with {
                $0.ack.sequence = sequence
                $0.ack.heldSlots = [held.sharedMemory.slot]
              })
          }
          #expect(try client.bytes(of: held) == pixels)
        }
      }
    }
  }

  @Test
  func `results use shared memory if their frame did and they fit into a slot`() async throws {
    let twice: Pipeline = [.filter("scale", ["width": .length(Length(256))])]
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("colorInvert")]) { client in
          client.send(.frame(1, Self.image))
          let inline = try await client.receiveFrame().image.inline
          #expect(inline.count == Self.image.inline.count)
          client.send(.frame(2, client.put(Self.image, in: 0)))
          #expect(try await client.receiveFrame().image.isInSlot)
        }
        // 128 x 128 x 4 fill a slot, 4 times as much does not fit.
        let large = Sidelight_V1_Image.noise(.bgra8, 128, 128)
        try await stub.withRing(twice) { client in
          client.send(.frame(1, client.put(large, in: 0)))
          let frame = try await client.receiveFrame()
          #expect(!frame.image.isInSlot)
          #expect(frame.image.inline.count == 4 * large.inline.count)
        }
      }
    }
  }

  @Test
  func `the ring of a session that ends during filtering is released when the frame is done`()
    async throws
  {
    let gate = Gate()
    try await withServer(.withSharedMemory(), catalogue: gate.catalogue) { server, address in
      try await withStub(address) { stub in
        struct Departed: Error {}
        await #expect(throws: (any Error).self) {
          try await stub.withRing([.filter("gate")]) { client in
            client.send(.frame(1, client.put(Self.image, in: 0)))
            for await _ in gate.entered { break }
            throw Departed()
          }
        }
        #expect(server.ringBytes == 4 << 16)
        gate.open(for: 1)
        try await expectEventually("nothing is left") {
          server.ringBytes == 0 && server.sessionCount == 0
        }
      }
    }
  }

  /// The client writes to the slot against the protocol, when the scene has been searched. Only the
  /// first pixels were, so only they may come back.
  @Test(arguments: [PixelFormat.bgra8, .i420, .nv12, .gray8], [false, true])
  func `a pipeline that protects works on a copy of the slot`(
    _ format: PixelFormat, _ protects: Bool
  ) async throws {
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(MarkFilter.Waiting.description) {
      MarkFilter.Waiting(gate: gate, protects: $0.flag("protects"))
    }
    let pipeline: Pipeline = [.filter("waiting", ["protects": .flag(protects)])]
    let image = Sidelight_V1_Image.noise(format, 61, 47, padding: 3)
    let shown = try image.makeFrame().bytes
    try await withServer(.withSharedMemory(), catalogue: catalogue) { server, address in
      try await withStub(address) { stub in
        try await stub.withRing(pipeline, inputs: 1, outputs: 1) { client in
          var entered = gate.entered.makeAsyncIterator()
          client.send(.frame(1, client.put(image, in: 0)))
          await entered.next()
          client.ring.overwrite(7, over: 0)
          gate.open(for: 1)
          let frame = try await client.receiveFrame()
          #expect(frame.disposition == .filtered)
          #expect((try client.bytes(of: frame.image) == shown) == protects)
          // Without protection the pixels are not copied.
          #expect((server.poolStatistics.misses > 0) == protects)
        }
      }
    }
  }

  @Test
  func `an analysis receives a copy of the picture, because the slot returns to the client`()
    async throws
  {
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("look", "Looks.", analysis: GatedAnalysis(gate: gate)))
    try await withServer(.withSharedMemory(), catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("look")], inputs: 1) { client in
          client.send(.frame(1, client.put(AnalysisTests.grey(51), in: 0)))
          #expect(try await client.receiveFrame().disposition == .passedThrough)
          for await _ in gate.entered { break }
          _ = client.put(AnalysisTests.grey(204), in: 0)
          gate.open(for: 1)
          guard case .analysis(let analysis) = try await client.receive() else {
            Issue.record("no analysis")
            return
          }
          #expect(analysis.figures["first"] == 51)
        }
      }
    }
  }

  @Test func `frames in slots are copied for an analysis only when it is idle`() async throws {
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("look", "Looks.", analysis: GatedAnalysis(gate: gate)))
    try await withServer(.withSharedMemory(), catalogue: catalogue) { server, address in
      @Sendable func copies() -> Int {
        let statistics = server.poolStatistics
        return statistics.hits + statistics.misses
      }
      try await withStub(address) { stub in
        try await stub.withRing([.filter("look")], inputs: 1) { client in
          for sequence: UInt64 in 1 ... 5 {
            client.send(.frame(sequence, client.put(AnalysisTests.grey(51), in: 0)))
            #expect(try await client.receiveFrame().sequence == sequence)
            if sequence == 1 { for await _ in gate.entered { break } }
            #expect(copies() == 1)
          }
          gate.open(for: 2)
          guard case .analysis(let first) = try await client.receive() else {
            Issue.record("no analysis")
            return
          }
          #expect(first.sequence == 1)
          client.send(.frame(6, client.put(AnalysisTests.grey(204), in: 0)))
          var next = Sidelight_V1_Analysis()
          for _ in 1 ... 2 {
            if case .analysis(let analysis) = try await client.receive() { next = analysis }
          }
          #expect(next.sequence == 6)
          #expect(next.figures["first"] == 204)
          #expect(copies() == 2)
        }
      }
    }
  }

  @Test
  func `an abandoned filter keeps its output slot, and the input slot is returned`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    try await withServer(
      .withSharedMemory(), catalogue: gate.catalogue, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("gate")], inputs: 1, outputs: 1) { client in
          client.send(.frame(1, client.put(Self.image, in: 0)))
          for await _ in gate.entered { break }
          let passed = try await clock.ticking(by: .seconds(3)) { try await client.receiveFrame() }
          #expect(passed.disposition == .passedThrough)
          #expect(passed.image.sharedMemory.slot == 0)

          // Its picture's slot has been reused by now; the result of that is never shown.
          let next = Sidelight_V1_Image.noise(.bgra8, 64, 48, seed: 2)
          client.send(.with { $0.ack.sequence = 1 })
          client.send(.frame(2, client.put(next, in: 0)))
          #expect(try await client.receiveFrame().image.sharedMemory.slot == 0)

          gate.open(for: 2)
          // Once the first is back, frames are filtered again, in the slot that it let go.
          var frame = Sidelight_V1_FilteredFrame()
          var sequence: UInt64 = 2
          while frame.disposition != .filtered {
            sequence += 1
            client.send(.frame(sequence, client.put(next, in: 0)))
            frame = try await client.receiveFrame()
          }
          #expect(try client.bytes(of: frame.image) == [UInt8](next.inline))
        }
      }
    }
  }
}

/// Tells the first sample, once the test lets it.
private struct GatedAnalysis: FrameAnalysis {
  let gate: Gate
  var everyNth: Int { 1 }

  func analyze(_ frame: Frame, at time: FrameTime) throws -> [String: AnalysisValue] {
    self.gate.hold()
    return ["first": .number(Double(frame.bytes[0]))]
  }
}
