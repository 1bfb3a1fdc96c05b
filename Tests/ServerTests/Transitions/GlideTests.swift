import Foundation
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Updates that move parameters over time.
@Suite(.timeLimit(.minutes(5))) struct GlideTests {
  static func client(
    _ filter: String, _ parameter: String, _ from: ParameterValue, _ to: ParameterValue,
    curve: TransitionCurve = .linear
  ) -> TransitionClient {
    TransitionClient(
      first: [.filter(filter, [parameter: from])],
      change: .update(parameter, to, ParameterGlide(.milliseconds(400), curve: curve)))
  }

  @Test(
    arguments: [
      ("sepiaTone", "intensity", .number(0), .number(1), .number(0.3)),
      ("gaussianBlur", "radius", .length(Length(1)), .length(Length(5)), .length(Length(2.2))),
      (
        "whitePointAdjust", "color", .color(RGBAColor(red: 1, green: 0, blue: 0)),
        .color(RGBAColor(red: 0, green: 0.5, blue: 1)),
        .color(RGBAColor(red: 0.7, green: 0.15, blue: 0.3))
      ),
      (
        "pixellate", "center", .point(FramePoint(x: Length(0, .width), y: Length(0.5, .height))),
        .point(FramePoint(x: Length(1, .width), y: Length(1, .height))),
        .point(FramePoint(x: Length(0.3, .width), y: Length(0.65, .height)))
      ),
    ] as [(String, String, ParameterValue, ParameterValue, ParameterValue)])
  func `frame k of n is filtered with the parameters in between`(
    _ filter: String, _ parameter: String, _ from: ParameterValue, _ to: ParameterValue,
    _ between: ParameterValue
  ) async throws {
    let client = Self.client(filter, parameter, from, to)
    let frames = client.frames(0 ..< 12)
    let answers = try await client.run(frames: frames)
    for (number, value) in [(0, from), (3, between), (10, to), (11, to)] {
      let expected = try await client.results(
        of: [.filter(filter, [parameter: value])], frames: frames)
      #expect(answers.pictures[number] == expected[number], "frame \(number)")
    }
    #expect(answers.ended.map(\.end) == [.completed])
    #expect(answers.frames.map(\.revision) == [1] + Array(repeating: 2, count: 12))
  }

  @Test func `a parameter that was not stated moves from its default`() async throws {
    var client = Self.client("sepiaTone", "intensity", .number(1), .number(0), curve: .easeIn)
    client.first = [.filter("sepiaTone")]
    let frames = client.frames(0 ..< 6)
    let pictures = try await client.run(frames: frames).pictures
    let expected = try await client.results(
      of: [.filter("sepiaTone", ["intensity": .number(0.75)])], frames: frames)
    #expect(pictures[5] == expected[5])
  }

  @Test func `the parameters of a kernel's text move`() async throws {
    func pipeline(_ amount: Double) -> Pipeline {
      let source = "param amount: 0 in 0..1\nreturn color.rgb * (1 - amount * uv.x)"
      return [.filter("kernel", ["source": .text(source), "amount": .number(amount)])]
    }
    let glide = ParameterGlide(.milliseconds(400), curve: .linear)
    let client = TransitionClient(
      first: pipeline(0), change: .update("amount", .number(1), glide))
    let frames = client.frames(0 ..< 11)
    let pictures = try await client.run(frames: frames).pictures
    for (number, amount) in [(0, 0), (3, 0.3), (10, 1)] {
      let expected = try await client.results(of: pipeline(amount), frames: frames)
      #expect(pictures[number] == expected[number], "frame \(number)")
    }
  }

  @Test func `a glide during a glide begins at the present parameters`() async throws {
    let client = Self.client("sepiaTone", "intensity", .number(0), .number(1))
    let frames = client.frames(0 ..< 10)
    let second = Sidelight_V1_ClientMessage.update(
      "intensity", .number(0), ParameterGlide(.milliseconds(400)))
    let answers = try await client.run(
      frames: Array(frames[..<5]) + [second] + Array(frames[5...]))
    // The fifth frame has 0.4; from there to 0.
    for (number, intensity) in [(4, 0.4), (5, 0.4), (8, 0.28)] {
      let expected = try await client.results(
        of: [.filter("sepiaTone", ["intensity": .number(intensity)])], frames: frames)
      #expect(answers.pictures[number] == expected[number], "frame \(number)")
    }
  }

  @Test func `an update without a glide ends a glide with a cut`() async throws {
    let client = Self.client("sepiaTone", "intensity", .number(0), .number(1))
    let frames = client.frames(0 ..< 6)
    var update = client.change
    update.update.clearGlide()
    update.update.stages[0].parameters = [
      "intensity": Sidelight_V1_ParameterValue(ParameterValue.number(0.5))
    ]
    let pictures = try await client.run(
      frames: Array(frames[..<4]) + [update] + Array(frames[4...])
    ).pictures
    let expected = try await client.results(
      of: [.filter("sepiaTone", ["intensity": .number(0.5)])], frames: frames)
    #expect(pictures[4] == expected[4])
  }

  @Test func `a value that has none in between fades`() async throws {
    let client = Self.client("grain", "monochrome", .flag(true), .flag(false))
    let frames = client.frames(0 ..< 6)
    let pictures = try await client.run(frames: frames).pictures
    let earlier = try await client.results(
      of: [.filter("grain", ["monochrome": .flag(true)])], frames: frames)
    let later = try await client.results(
      of: [.filter("grain", ["monochrome": .flag(false)])], frames: frames)
    let difference = greatestDifference(
      of: pictures[5], fromMixOf: earlier[5], later[5], weight: 0.5)
    #expect(difference <= 1)
  }

  @Test func `parameters of a pipeline that protects change at once`() async throws {
    let client = TransitionClient(
      first: [.filter("mark", ["protects": .flag(true), "failsAt": .number(500)])],
      change: .update("failsAt", .number(900), ParameterGlide(.milliseconds(400))),
      image: .noise(.gray8, 8, 8), catalogue: MarkFilter.catalogue())
    let answers = try await client.run(frames: client.frames(0 ..< 2))
    #expect(answers.ended.map(\.end) == [.protection])
    #expect(answers.ended.first?.firstSequence == 10)
  }

  @Test func `a plan for values in between counts towards the cost of the pipeline`() async throws {
    let clock = ManualClock()
    var client = Self.client("slow", "amount", .number(0), .number(1))
    client.policy = .keepOldest
    client.clock = clock.sessionClock
    let description = FilterDescription(
      name: "slow", summary: "Takes its time.", category: .custom, reach: .frame,
      fidelity: .custom, formula: "the input",
      parameters: [
        ParameterDescription(
          "amount", .number, default: .number(0), slider: 0 ... 1, limits: 0 ... 1, "Nothing.")
      ])
    client.catalogue.register(description) { _ in
      CustomFilter(
        "slow", "Takes its time.",
        frame: { input, output, _ in
          clock.advance(by: .milliseconds(30))
          copy(input, into: &output)
        })
    }
    let answers = try await client.run(
      frames: [
        client.frame(0), client.frame(1), client.frame(2) { $0.budgetUs = 20_000 },
        client.frame(3) { $0.budgetUs = 40_000 },
      ])
    #expect(answers.frames.map(\.sequence) == [1, 10, 11, 13])
    #expect(answers.drops.map(\.reason) == [.lateOnArrival])
  }
}
