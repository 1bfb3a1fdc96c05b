import Foundation
import SidelightKernelLanguage
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Testing

/// The bounds of a pipeline as a message.
@Suite struct ContractLimitsTests {
  /// A value of a kind in its largest encoding.
  static func largest(_ kind: ParameterDescription.Kind) -> ParameterValue {
    let length = Length(0.123456789, .shortSide)
    return switch kind {
    case .number: .number(0.123456789)
    case .length: .length(length)
    case .point: .point(FramePoint(x: length, y: length))
    case .color: .color(RGBAColor(red: 0.1, green: 0.2, blue: 0.3, alpha: 0.4))
    case .vector(let count): .vector(Array(repeating: 0.123456789, count: count))
    case .flag: .flag(true)
    case .choice(let names): .text(names.max { $0.utf8.count < $1.utf8.count } ?? "")
    case .asset: .text(String(repeating: "a", count: 64))
    // Sixty-four stages with longer texts exceed the bytes of a pipeline.
    case .text: .text(String(repeating: "a", count: 512))
    }
  }

  /// A stage of a filter with everything that a stage can state.
  static func largestStage(_ filter: FilterDescription, number: Int) -> Stage {
    let length = Length(0.123456789, .shortSide)
    return Stage(
      .filter(
        FilterCall(
          name: filter.name,
          parameters: Dictionary(
            uniqueKeysWithValues: filter.parameters.map { parameter in
              // The longer spelling.
              let name = parameter.name.prefix(1).uppercased() + parameter.name.dropFirst()
              return ("input" + name, Self.largest(parameter.kind))
            }))),
      id: String("\(number)".padding(toLength: 64, withPad: "x", startingAt: 0)),
      isActive: false, mix: 0.123456789,
      region: Region(origin: FramePoint(x: length, y: length), width: length, height: length),
      failurePolicy: .blur)
  }

  @Test
  func `64 stages of the largest built-in filter fit into a pipeline, with room to spare`() throws {
    let sizes = FilterCatalogue.builtIn.descriptions.map { filter in
      let pipeline = Pipeline(
        stages: (0 ..< Pipeline.maxStages).map { Self.largestStage(filter, number: $0) })
      return (filter.name, Sidelight_V1_Pipeline(pipeline).byteCount)
    }
    let largest = try #require(sizes.max { $0.1 < $1.1 })
    #expect(largest.1 <= ContractLimits.maxPipelineBytes * 7 / 8, "\(largest)")
  }

  /// A pipeline of a size, within 40 bytes.
  static func pipeline(ofBytes count: Int) -> Pipeline {
    func stage(_ size: Int) -> Stage {
      .filter(
        "f",
        [
          "a": .text(String(repeating: "t", count: size / 2)),
          "b": .text(String(repeating: "t", count: size - size / 2)),
        ])
    }
    var pipeline = Pipeline()
    func left() -> Int { count - Sidelight_V1_Pipeline(pipeline).byteCount }
    while left() > 2048 { pipeline.stages.append(stage(1600)) }
    pipeline.stages.append(stage(left() - 40))
    return pipeline
  }

  @Test
  func `a pipeline that takes more than the limit is refused, and one that takes less is not`()
    throws
  {
    let small = Self.pipeline(ofBytes: ContractLimits.maxPipelineBytes - 64)
    #expect(try Pipeline(Sidelight_V1_Pipeline(small)) == small)
    let large = Self.pipeline(ofBytes: ContractLimits.maxPipelineBytes + 64)
    #expect(large.stages.count <= Pipeline.maxStages)
    let count = Sidelight_V1_Pipeline(large).byteCount
    let violation = #expect(throws: FieldViolation.self) {
      try Pipeline(Sidelight_V1_Pipeline(large))
    }
    #expect(violation?.field == "stages")
    #expect(violation?.reason == "take \(count) bytes in all; the limit is 65536")
  }

  @Test func `unknown fields of a pipeline are not kept, wherever they are`() throws {
    // Field 1000, 40 bytes.
    let unknown = Data([0xC2, 0x3E, 40]) + Data(repeating: 0x55, count: 40)
    let known = Sidelight_V1_Pipeline([
      Stage(
        .filter(FilterCall(name: "f", parameters: ["a": .length(Length(1, .width))])), id: "i",
        region: Region(
          origin: FramePoint(x: Length(1), y: Length(2)), width: Length(1), height: Length(1)))
    ])
    func padded<M: Message>(_ message: M) throws -> M {
      try M(serializedBytes: try message.serializedBytes() as Data + unknown)
    }
    var wire = known
    wire.stages[0].region.origin = try padded(wire.stages[0].region.origin)
    wire.stages[0].region = try padded(wire.stages[0].region)
    wire.stages[0].filter.parameters["a"] = try padded(
      wire.stages[0].filter.parameters["a"] ?? .init())
    wire.stages[0].filter = try padded(wire.stages[0].filter)
    wire.stages[0] = try padded(wire.stages[0])
    wire = try padded(wire)
    #expect(wire.byteCount > known.byteCount + 200)
    #expect(Sidelight_V1_Pipeline(try Pipeline(wire)) == known)
  }

  @Test func `parameters that come in many fields of one stage count together`() throws {
    var bytes = Data()
    for number in 0 ..< 65 {
      let stage = Sidelight_V1_Stage.with {
        $0.filter.name = "f"
        $0.filter.parameters = ["p\(number)": .with { $0.number = 1 }]
      }
      bytes += try stage.serializedBytes() as Data
    }
    let stage = try Sidelight_V1_Stage(serializedBytes: bytes)
    let violation = #expect(throws: FieldViolation.self) {
      try Pipeline(.with { $0.stages = [stage] })
    }
    #expect(violation?.field == "stages[0].filter.parameters")
    #expect(violation?.reason == "has 65 entries; the limit is 64")
  }

  @Test func `a pipeline's text for lists has at most the bytes that are asked for`() {
    let pipeline = Pipeline(
      stages: (0 ..< 64).map { number in
        .filter("f\(number)", ["values": .vector(Array(repeating: 0.1, count: 1000))])
      })
    let text = pipeline.text(clippedToBytes: 2048)
    #expect(text.utf8.count == 2048)
    #expect(text.hasSuffix("..."))
    #expect(pipeline.text.hasPrefix(text.dropLast(3)))
    let short: Pipeline = [.filter("a"), .filter("b")]
    #expect(short.text(clippedToBytes: 2048) == short.text)
  }

  @Test func `a page of the largest sessions, and a message of a watch, stay below 4 MiB`() {
    let info = Sidelight_V1_SessionInfo.with {
      $0.sessionID = String(repeating: "f", count: 16)
      $0.label = String(repeating: "l", count: ContractLimits.maxLabelBytes)
      $0.peer = String(repeating: "p", count: ContractLimits.maxListedPeerBytes)
      $0.state = .overridden
      $0.pipeline = String(repeating: "x", count: ContractLimits.maxListedPipelineBytes)
      $0.revision = .max
      $0.age = .init(seconds: .max, nanos: 999_999_999)
      $0.stats = .with {
        $0.received = .max
        $0.filtered = .max
        $0.passedThrough = .max
        $0.degraded = .max
        $0.dropped = Sidelight_V1_DropReason.allCases.map { reason in
          .with {
            $0.reason = reason
            $0.count = .max
          }
        }
        $0.inFlight = .max
        $0.ignoredMessages = .max
        $0.bytesIn = .max
        $0.bytesOut = .max
        $0.final = true
      }
      $0.width = .max
      $0.height = .max
      $0.format = .png
      $0.lastTotalUs = .max
      $0.overrideReason = String(repeating: "r", count: ContractLimits.maxReasonBytes)
    }
    #expect(info.byteCount < 4096)
    let page = Sidelight_V1_ListSessionsResponse.with {
      $0.sessions = Array(repeating: info, count: ContractLimits.maxPageSize)
      $0.nextPageToken = String(repeating: "0", count: 32)
    }
    #expect(page.byteCount < 4 << 20)
    let part = Sidelight_V1_WatchSessionsResponse.with {
      $0.sessions = Array(repeating: info, count: ContractLimits.maxPageSize)
      $0.continues = true
    }
    #expect(part.byteCount < 4 << 20)
  }
}
