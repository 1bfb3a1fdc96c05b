import Foundation
import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Tests of clients' errors with shared memory, and the answers.
@Suite(.timeLimit(.minutes(5)), .enabled(if: SharedMemoryConfiguration.isSupported))
struct SharedMemoryErrorTests {
  static let image = Sidelight_V1_Image.noise(.gray8, 16, 16)

  /// A picture in slot 0 of a ring with two input and two output slots of 65536 bytes.
  static func placed(
    _ configure: (inout Sidelight_V1_Image) -> Void
  ) -> Sidelight_V1_Image {
    var image = Self.image
    image.sharedMemory = .with { $0.length = 256 }
    configure(&image)
    return image
  }

  static let invalidReferences: [(String, Sidelight_V1_Image, String)] = [
    ("a slot out of range", Self.placed { $0.sharedMemory.slot = 4 }, "shared_memory.slot"),
    ("the last of all slots", Self.placed { $0.sharedMemory.slot = .max }, "shared_memory.slot"),
    ("a slot of the other way", Self.placed { $0.sharedMemory.slot = 2 }, "shared_memory.slot"),
    ("more than a slot", Self.placed { $0.sharedMemory.length = 65537 }, "shared_memory.length"),
    ("more than memory", Self.placed { $0.sharedMemory.length = .max }, "shared_memory.length"),
    (
      "more than a signed number", Self.placed { $0.sharedMemory.length = 1 << 63 },
      "shared_memory.length"
    ),
    ("too few bytes", Self.placed { $0.sharedMemory.length = 255 }, "shared_memory.length"),
    ("no bytes", Self.placed { $0.sharedMemory.length = 0 }, "shared_memory.length"),
    ("too many bytes", Self.placed { $0.sharedMemory.length = 257 }, "shared_memory.length"),
    (
      "a plane past what is meant",
      Self.placed {
        $0.planes = [
          .with {
            $0.offset = 1
            $0.stride = 16
          }
        ]
      }, "planes"
    ),
    (
      "a plane at the end of the world",
      Self.placed {
        $0.planes = [
          .with {
            $0.offset = .max
            $0.stride = .max
          }
        ]
      }, "planes"
    ),
    ("a file where there must be none", Self.placed { $0.format = .png }, "format"),
  ]

  @Test
  func `a frame with an invalid reference is dropped, and its slot is returned`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("colorInvert")], inputs: 2, outputs: 2) { client in
          var sequence: UInt64 = 0
          for (name, image, field) in Self.invalidReferences {
            sequence += 1
            client.send(.frame(sequence, image))
            let drop = try await client.receiveDrop()
            #expect(drop.reason == .invalidFrame, "\(name)")
            #expect(drop.stage == .arrival, "\(name)")
            #expect(drop.diagnostic.message.hasPrefix("frame.image.\(field)"), "\(name)")
            for slot in 0 ..< 2 {
              sequence += 1
              client.send(.frame(sequence, client.put(Self.image, in: slot)))
              let frame = try await client.receiveFrame()
              #expect(try client.bytes(of: frame.image) == Self.image.inline.map { 255 - $0 })
              client.send(.with { $0.ack.sequence = sequence })
            }
          }
          let stats = try await client.finish()
          #expect(stats.outcomes == sequence)
        }
      }
    }
  }

  @Test func `the slot of a frame without an outcome is refused`() async throws {
    let gate = Gate()
    try await withServer(.withSharedMemory(), catalogue: gate.catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("gate")]) { client in
          let placed = client.put(Self.image, in: 0)
          client.send(.frame(1, placed))
          for await _ in gate.entered { break }
          client.send(.frame(2, placed))
          client.send(.frame(3, client.put(Self.image, in: 1)))
          try await client.settle()
          gate.open(for: 3)
          let first = try await client.receiveFrame()
          #expect(first.sequence == 1)
          #expect(try client.bytes(of: first.image) == [UInt8](Self.image.inline))
          let second = try await client.receiveDrop()
          #expect(second.firstSequence == 2)
          #expect(second.reason == .invalidFrame)
          #expect(second.diagnostic.message.hasPrefix("frame.image.shared_memory.slot"))
          #expect(try await client.receiveFrame().sequence == 3)
          client.send(.frame(4, placed))
          #expect(try await client.receiveFrame().sequence == 4)

          var elsewhere = placed
          elsewhere.sharedMemory.slot = 99
          client.send(.frame(5, elsewhere))
          #expect(try await client.receiveDrop().diagnostic.message.hasPrefix("frame.image"))
          client.send(.frame(5, placed))
          #expect(try await client.receiveDrop().diagnostic.message.hasPrefix("frame.sequence"))
        }
      }
    }
  }

  @Test func `every kind of drop returns the slot`() async throws {
    let gate = Gate()
    try await withServer(.withSharedMemory(), catalogue: gate.catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("gate")], inputs: 4, policy: .newestWins) { client in
          client.send(.frame(1, client.put(Self.image, in: 0)))
          for await _ in gate.entered { break }
          client.send(.frame(2, client.put(Self.image, in: 1)))
          client.send(.frame(3, client.put(Self.image, in: 2)))
          client.send(.with { $0.pause.passThrough = false })
          client.send(.frame(4, client.put(Self.image, in: 3)))
          client.send(.with { $0.resume = .init() })
          try await client.settle()
          gate.open(for: 2)
          let first = try await client.receiveFrame()
          #expect(first.sequence == 1)
          #expect(try await client.receiveDrop().reason == .superseded)
          #expect(try await client.receiveFrame().sequence == 3)
          #expect(try await client.receiveDrop().reason == .paused)
          for slot in 0 ..< 4 {
            gate.open(for: 1)
            let sequence = UInt64(5 + slot)
            client.send(.frame(sequence, client.put(Self.image, in: slot)))
            #expect(try await client.receiveFrame().sequence == sequence)
            client.send(.with { $0.ack.sequence = sequence })
          }
        }
      }
    }
  }

  @Test func `a session can only name slots of the ring that it was given`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("colorInvert")]) { one in
          _ = one.put(.noise(.gray8, 16, 16, seed: 7), in: 0)
          try await stub.withRing([.filter("colorInvert")]) { other in
            other.send(.frame(1, other.put(Self.image, in: 0)))
            let frame = try await other.receiveFrame()
            #expect(try other.bytes(of: frame.image) == Self.image.inline.map { 255 - $0 })
          }
        }
      }
    }
  }

  @Test func `a client may unmap its ring while a frame is filtered`() async throws {
    let gate = Gate()
    let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)
    try await withServer(.withSharedMemory(), catalogue: gate.catalogue) { _, address in
      try await withStub(address) { stub in
        let (requests, continuation) = AsyncStream<Sidelight_V1_ClientMessage>.makeStream()
        try await stub.process { writer in
          try await writer.write(
            .open([.filter("gate")]) { $0.sharedMemory.slotBytes = 1 << 16 })
          for await message in requests { try await writer.write(message) }
        } onResponse: { response in
          var messages = response.messages.makeAsyncIterator()
          guard case .opened(let opened)? = try await messages.next()?.kind else { return }
          let offer = opened.sharedMemory
          do {
            let answer = try DescriptorSocket.fetch(
              offer.hello(of: opened.sessionID), at: offer.socketPath)
            let ring = try SharedMemoryRing(
              mapping: try #require(answer.memory), try RingLayout(offer))
            ring.buffer(slot: 0, byteCount: image.inline.count)
              .copy(PixelBuffer(copying: [UInt8](image.inline)))
          }
          // Unmapped and closed, before the server reads.
          var placed = image
          placed.sharedMemory = .with { $0.length = UInt64(image.inline.count) }
          continuation.yield(.frame(1, placed))
          for await _ in gate.entered { break }
          gate.open(for: 1)
          continuation.finish()
          var frames: [Sidelight_V1_FilteredFrame] = []
          while let message = try await messages.next() {
            if case .frame(let frame)? = message.kind { frames.append(frame) }
          }
          #expect(frames.map(\.disposition) == [.filtered])
        }
      }
    }
  }

  @Test
  func `a client that overwrites the ring during filtering affects only its own pictures`()
    async throws
  {
    // Every filter that doesn't need an asset: all ways of reading meet samples that change.
    let names = FilterCatalogue.builtIn.descriptions
      .filter { description in
        description.category != .analysis
          && (try? FilterCatalogue.builtIn.resolve([.filter(description.name)])) != nil
      }
      .map(\.name)
    #expect(names.count > 30)
    let image = Sidelight_V1_Image.noise(.i420, 96, 64)
    try await withServer(.withSharedMemory()) { server, address in
      try await withStub(address) { stub in
        try await stub.withRing { client in
          let isOver = Mutex(false)
          let vandal = Thread {
            var state: UInt8 = 1
            while !isOver.withLock({ $0 }) {
              state = state &* 5 &+ 1
              for slot in 0 ..< client.ring.layout.slotCount {
                client.ring.overwrite(state, over: slot)
              }
            }
          }
          vandal.start()
          defer { isOver.withLock { $0 = true } }
          let placed = client.put(image, in: 0)
          var sequence: UInt64 = 0
          for name in names {
            client.send(.select([.filter(name)]))
            for _ in 0 ..< 3 {
              sequence += 1
              client.send(.frame(sequence, placed))
              // Filters of backgrounds also report their progress.
              while case .analysis = try await client.receive() {}
              client.send(.with { $0.ack.sequence = sequence })
            }
          }
          let stats = try await client.finish()
          #expect(stats.outcomes == sequence)
          #expect(stats.dropped == [])
        }
        // The other sessions are unaffected.
        let answers = try await stub.converse([
          .open([.filter("colorInvert")]), .frame(1, Self.image),
        ])
        #expect([UInt8](answers.frames[0].image.inline) == Self.image.inline.map { 255 - $0 })
        try await expectEventually("the ring is released") { server.ringBytes == 0 }
      }
    }
  }

  @Test
  func `an acknowledgement with too many held slots is an error without effect`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("colorInvert")], outputs: 1) { client in
          client.send(.frame(1, client.put(Self.image, in: 0)))
          #expect(try await client.receiveFrame().image.isInSlot)
          client.send(
            .with {
              $0.ack.sequence = 1
              $0.ack.heldSlots = Array(repeating: 0, count: 65)
            })
          guard case .error(let error) = try await client.receive() else {
            Issue.record("no error")
            return
          }
          #expect(error.status.message.hasPrefix("ack.held_slots"))
          client.send(.frame(2, client.put(Self.image, in: 0)))
          #expect(try await client.receiveFrame().image.isInSlot == false)
        }
      }
    }
  }

  @Test func `in a session without a ring a frame in a slot is invalid`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse([
          .open(), .frame(1, Self.placed { _ in }), .frame(2, Self.image),
        ])
        #expect(answers.drops.map(\.reason) == [.invalidFrame])
        #expect(answers.drops[0].diagnostic.message.hasPrefix("frame.image.pixels"))
        #expect(answers.drops[0].diagnostic.message.contains("no ring"))
        #expect(answers.finalStats?.passedThrough == 1)
      }
    }
  }

  @Test func `a still image in shared memory is refused`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        let error = try await #require(throws: RPCError.self) {
          try await stub.apply(.with { $0.image = Self.placed { _ in } })
        }
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("image.shared_memory"))
      }
    }
  }
}
