import SidelightKernelLanguage
import SidelightKernels
import SidelightWire
import Testing

@Suite struct `Typed filters and the text form` {
  @Test(
    arguments: [
      ([.sepiaTone(intensity: 0.8), .vignette()], "sepiaTone(intensity: 0.8), vignette"),
      ([.gaussianBlur(radius: 12)], "gaussianBlur(radius: 12)"),
      ([.gaussianBlur(radius: .width(0.01))], "gaussianBlur(radius: 0.01w)"),
      (
        [.vignetteEffect(center: FramePoint(x: .width(0.5), y: 8), falloff: 1)],
        "vignetteEffect(center: (0.5w, 8), falloff: 1)"
      ),
      (
        [.whitePointAdjust(color: RGBAColor(red: 1, green: 128 / 255, blue: 0))],
        "whitePointAdjust(color: #ff8000)"
      ),
      ([.colorMatrix(biasVector: [0.5, 0, 0, 0])], "colorMatrix(biasVector: [0.5, 0, 0, 0])"),
      ([.grain(monochrome: true)], "grain(monochrome: true)"),
      ([.motionBlur(border: .transparent)], "motionBlur(border: transparent)"),
      ([.overlay(asset: "hat")], "overlay(asset: hat)"),
      ([.sepiaTone().mix(0.5).named("look")], "look: sepiaTone @mix(0.5)"),
      (
        [.sepiaTone().region(0, 0, .width(0.5), .height(1)).off],
        "sepiaTone @region(0, 0, 0.5w, 1h) @off"
      ),
      (
        [.pipeline([.pixellate(scale: 12), .hueAdjust(angle: 3.14)])],
        "[pixellate(scale: 12), hueAdjust(angle: 3.14)]"
      ),
      (Pipeline(workingSpace: .sRGBLinear) { .gaussianBlur() }, "@linear gaussianBlur"),
      ([.bloom().inLinearLight], "[@linear bloom]"),
    ] as [(Pipeline, String)])
  func `state equal pipelines`(pipeline: Pipeline, text: String) throws {
    #expect(try Pipeline(text: text) == pipeline)
    #expect(pipeline.text == text)
  }

  /// Examples that do not parse are left out of `ListFilters`.
  @Test func `every example of a description is a pipeline that ends with its filter`() throws {
    let examples = FilterCatalogue.builtIn.allDescriptions.flatMap { filter in
      filter.examples.map { (name: filter.name, text: $0) }
    }
    #expect(examples.count > 40)
    for example in examples {
      let last = try #require(try Pipeline(text: example.text).stages.last)
      guard case .filter(let call) = last.content else {
        Issue.record("\(example.text) is not a filter")
        continue
      }
      #expect(call.name == example.name)
    }
  }
}
