import SidelightKernels
import SidelightWire
import Testing

/// The pipelines that hide a part of their frames.
@Suite struct `Protection by pipelines` {
  static func call(_ name: String, _ parameters: [String: ParameterValue] = [:]) -> Stage {
    Stage(.filter(FilterCall(name: name, parameters: parameters)))
  }

  @Test(arguments: ["faceBlur", "facePixellate", "CIFaceBlur", "CIFacePixellate"])
  func `filters of faces always protect`(_ name: String) {
    #expect(Pipeline(stages: [Self.call(name)]).protection == .faces)
    #expect(Pipeline(stages: [Self.call(name, ["protect": .flag(false)])]).protection == .faces)
  }

  @Test(arguments: ["virtualBackground", "backgroundBlur", "CIBackgroundBlur"])
  func `filters of the background protect unless they say otherwise`(_ name: String) {
    #expect(Pipeline(stages: [Self.call(name)]).protection == .background)
    for value in [ParameterValue.flag(true), .number(0), .text("false")] {
      #expect(Pipeline(stages: [Self.call(name, ["protect": value])]).protection == .background)
    }
    for parameter in ["protect", "inputProtect"] {
      #expect(Pipeline(stages: [Self.call(name, [parameter: .flag(false)])]).protection == [])
    }
    let both: [String: ParameterValue] = ["protect": .flag(false), "inputProtect": .flag(true)]
    #expect(Pipeline(stages: [Self.call(name, both)]).protection == .background)
  }

  @Test func `only active stages protect, also in nested pipelines`() {
    var hidden = Self.call("faceBlur")
    let nested = Stage(.pipeline(Pipeline(stages: [Self.call("sepiaTone"), hidden])))
    #expect(
      Pipeline(stages: [nested, Self.call("backgroundBlur")]).protection == [.faces, .background])
    hidden.isActive = false
    #expect(Pipeline(stages: [hidden]).protection == [])
    var inactive = nested
    inactive.isActive = false
    #expect(Pipeline(stages: [inactive]).protection == [])
    #expect(Pipeline(stages: [Self.call("gaussianBlur"), Self.call("pixellate")]).protection == [])
    #expect(Pipeline(stages: []).protection == [])
  }
}
