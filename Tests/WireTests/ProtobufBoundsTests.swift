import Foundation
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the fields counted before a message is decoded.
struct ProtobufBoundsTests {
  static let process = "/sidelight.v1.FrameFilter/Process"

  static var shape: MessageShape {
    get throws { try #require(MessageShapes.contract.input(ofMethodAt: Self.process)) }
  }

  /// Checks a client's message. A separate function: the compiler (6.3.1) rejects a span within a
  /// closure that throws.
  static func check(_ bytes: [UInt8], maxFields: Int) throws {
    try ProtobufBounds.check(bytes.span, as: self.shape, maxFields: maxFields)
  }

  /// A message of every kind, with fields of every type in them.
  static let sound: [Sidelight_V1_ClientMessage] = [
    .with {
      $0.open.label = "label"
      $0.open.maxFps = 30
      $0.open.pipeline.stages = (0 ..< 64).map { number in
        .with {
          $0.id = "stage \(number)"
          $0.region.origin.x.value = 0.5
          $0.filter.name = "sepiaTone"
          $0.filter.parameters["intensity"] = .with { $0.number = 0.5 }
          $0.filter.parameters["vector"] = .with { $0.vector.values = [1, 2, 3] }
        }
      }
    },
    .with {
      $0.frame.sequence = .max
      $0.frame.rtpTimestamp = 7
      $0.frame.tags = ["a": "b", "c": ""]
      $0.frame.image.planes = [.with { $0.stride = 4 }, .init()]
      // Bytes that look like anything but pixels: they are not looked at.
      $0.frame.image.inline = Data(repeating: 0x0A, count: 100_000)
    },
    .with { $0.activate.stages = ["a": true, "b": false] },
    .init(),
  ]

  @Test func `messages of honest clients pass, with all their fields and bytes`() throws {
    for message in Self.sound {
      let bytes: [UInt8] = try message.serializedBytes()
      try Self.check(bytes, maxFields: 1200)
    }
  }

  @Test func `fields are counted wherever they are, and one too many is one too many`() throws {
    // activate, with entries of two fields.
    let message = Sidelight_V1_ClientMessage.with {
      $0.activate.stages = ["a": true, "b": true, "c": true]
    }
    let bytes: [UInt8] = try message.serializedBytes()
    try Self.check(bytes, maxFields: 10)
    #expect(throws: ProtobufBounds.Violation.tooManyFields(limit: 9)) {
      try Self.check(bytes, maxFields: 9)
    }
  }

  @Test func `empty messages, scalars, groups and unknown fields all count`() throws {
    let bombs: [[UInt8]] = [
      [0x9A, 0x01, 0xC8, 0x01] + Array(repeating: [0x0A, 0x00], count: 100).joined(),
      Array([[0x0A, 0x00]].joined()) + Array(repeating: [0xF8, 0x07, 0x01], count: 100).joined(),
      Array(repeating: 0x0B, count: 100),
      Array(repeating: [0x0D, 0, 0, 0, 0], count: 100).flatMap { $0 },
      Array(repeating: [0x09, 0, 0, 0, 0, 0, 0, 0, 0], count: 100).flatMap { $0 },
    ]
    for bomb in bombs {
      #expect(throws: ProtobufBounds.Violation.tooManyFields(limit: 99)) {
        try Self.check(bomb, maxFields: 99)
      }
    }
  }

  @Test func `messages in messages beyond the limit are too deep`() throws {
    // select.pipeline, then a stage with a pipeline in it, again and again.
    func nested(_ depth: Int) throws -> [UInt8] {
      var pipeline = Sidelight_V1_Pipeline()
      for _ in 0 ..< depth {
        let inner = pipeline
        pipeline = .with { $0.stages = [.with { $0.pipeline = inner }] }
      }
      return try Sidelight_V1_ClientMessage.with { $0.select.pipeline = pipeline }.serializedBytes()
    }
    try Self.check(try nested(49), maxFields: 1000)
    #expect(throws: ProtobufBounds.Violation.tooDeep(limit: 100)) {
      try Self.check(try nested(60), maxFields: 1000)
    }
  }

  @Test(arguments: [1, 2, 3, 7, 64])
  func `in whatever pieces a message comes, the finding is the same`(_ size: Int) throws {
    let bytes: [UInt8] = try Self.sound[0].serializedBytes()
    var exact = 0
    for limit in 1 ... 2000 {
      if (try? Self.check(bytes, maxFields: limit)) != nil {
        exact = limit
        break
      }
    }
    #expect(exact > 64)
    for limit in [exact - 1, exact] {
      var bounds = ProtobufBounds(
        shape: try Self.shape, length: bytes.count, maxFields: limit)
      var violation: ProtobufBounds.Violation?
      for start in stride(from: 0, to: bytes.count, by: size) where violation == nil {
        let piece = Array(bytes[start ..< min(start + size, bytes.count)])
        do throws(ProtobufBounds.Violation) {
          try bounds.scan(piece.span)
        } catch {
          violation = error
        }
      }
      #expect(violation == (limit < exact ? .tooManyFields(limit: limit) : nil))
    }
  }

  @Test
  func `noise is read to its end, and no message that decodes has more fields than were counted`()
    throws
  {
    var dice = SystemRandomNumberGenerator()
    for _ in 0 ..< 20_000 {
      var bytes: [UInt8] = try Self.sound[2].serializedBytes()
      for _ in 0 ..< 3 {
        bytes[Int.random(in: bytes.indices, using: &dice)] = .random(in: 0 ... 255, using: &dice)
      }
      guard let message = try? Sidelight_V1_ClientMessage(serializedBytes: bytes),
        case .activate(let activate)? = message.kind, !activate.stages.isEmpty
      else {
        try? Self.check(bytes, maxFields: 100)
        continue
      }
      #expect(throws: ProtobufBounds.Violation.self) {
        try Self.check(bytes, maxFields: activate.stages.count)
      }
    }
  }

  @Test func `the contract knows what each of its methods takes`() {
    #expect(ContractDescriptors.files.file.map(\.name).contains("sidelight/v1/session.proto"))
    for method in ["Process", "Apply", "CheckPipeline", "GetServerInfo"] {
      #expect(
        MessageShapes.contract.input(ofMethodAt: "/sidelight.v1.FrameFilter/\(method)") != nil)
    }
    #expect(MessageShapes.contract.input(ofMethodAt: "/sidelight.v1.FrameFilter/Nothing") == nil)
  }
}
