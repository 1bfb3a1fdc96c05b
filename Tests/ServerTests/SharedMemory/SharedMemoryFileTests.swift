import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Files in slots of shared memory.
@Suite(.timeLimit(.minutes(5))) struct SharedMemoryFileTests {
  @Test
  func `a file is copied before it is parsed, so that later writes have no effect`() async throws {
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    let raw = Sidelight_V1_Image.noise(.i420, 64, 48)
    let expected = try image.decoded().jpeg()
    try await withServer(.withSharedMemory(), catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("gate")]) { client in
          client.send(.frame(1, client.put(raw, in: 0)))
          for await _ in gate.entered { break }
          // It waits for its turn, and is not decoded yet.
          client.send(.frame(2, client.put(image, in: 1)))
          try await client.settle()
          client.ring.overwrite(0x5A, over: 1)
          gate.open(for: 2)
          let first = try await client.receiveFrame()
          #expect(first.sequence == 1)
          let frame = try await client.receiveFrame()
          #expect(frame.sequence == 2)
          #expect(frame.image.format == .jpeg)
          #expect(frame.image.inline == expected)
        }
      }
    }
  }

  @Test func `an unchanged file in a slot is returned in that slot`() async throws {
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing { client in
          let placed = client.put(image, in: 0)
          client.send(.frame(1, placed))
          let frame = try await client.receiveFrame()
          #expect(frame.disposition == .passedThrough)
          #expect(frame.image == placed)
        }
      }
    }
  }

  @Test func `a file in a slot is returned as samples in a slot on request`() async throws {
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    let expected = try image.decoded().bytes
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([], { $0.output.format = .i420 }) { client in
          client.send(.frame(1, client.put(image, in: 0)))
          let frame = try await client.receiveFrame()
          #expect(frame.disposition == .filtered)
          #expect(frame.image.isInSlot)
          let bytes = try client.bytes(of: frame.image)
          #expect(bytes == expected)
        }
      }
    }
  }

  @Test func `data that is not an image file is refused on arrival, with the field`() async throws {
    let image = Sidelight_V1_Image.jpeg(Array("GIF89a, really".utf8))
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("sepiaTone")]) { client in
          client.send(.frame(1, client.put(image, in: 0)))
          let drop = try await client.receiveDrop()
          #expect(drop.reason == .invalidFrame)
          #expect(drop.diagnostic.message.hasPrefix("frame.image.shared_memory: "))
        }
      }
    }
  }

  @Test
  func `a frame with a damaged file in a slot is dropped, and the slot is returned`() async throws {
    var broken = try Sidelight_V1_Image.jpeg(64, 48)
    broken.inline.removeLast(20)
    let image = broken
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing([.filter("sepiaTone")]) { client in
          for sequence in 1 ... 3 as ClosedRange<UInt64> {
            client.send(.frame(sequence, client.put(image, in: 0)))
            let drop = try await client.receiveDrop()
            #expect(drop.reason == .invalidFrame)
            #expect(drop.diagnostic.message.hasPrefix("frame.image.shared_memory: "))
          }
        }
      }
    }
  }
}
