import SidelightKernelLanguage
import SidelightKernels
import SidelightText
import Testing

/// The typed functions of the filters of SidelightText.
@Suite("Typed filters of texts") struct TypedTextFilterTests {
  private static let black = RGBAColor(red: 0, green: 0, blue: 0)
  private static let margin = FramePoint(x: Length(9), y: Length(0.1, .height))

  /// Every filter, with all its parameters.
  private static let stages: [Stage] = [
    .text(
      text: "{participant}", font: .dejaVuSans, bold: true, fontAsset: "brand", size: 30,
      color: Self.black, outlineWidth: 0.1, outlineColor: Self.black, shadowColor: Self.black,
      shadowOffset: [0.1, 0.1], shadowBlur: 0.1, boxColor: Self.black, boxPadding: [1, 1],
      boxRadius: 0.2, boxSpan: .width, width: .width(0.5), lines: 2, lineSpacing: 1.2,
      align: .right, position: .top, margin: Self.margin, opacity: 0.5, utcOffset: 5.5),
    .timecode(
      format: .milliseconds, source: .sequence, rate: 25, font: .dejaVuMono, bold: false,
      fontAsset: "brand", size: 30, color: Self.black, outlineWidth: 0.1,
      outlineColor: Self.black, shadowColor: Self.black, shadowOffset: [0.1, 0.1],
      shadowBlur: 0.1, boxColor: Self.black, boxPadding: [1, 1], boxRadius: 0.2,
      position: .topLeft, margin: Self.margin, opacity: 0.5, utcOffset: -3),
  ]

  @Test(arguments: Self.stages)
  func `each parameter has an argument, and the catalogue accepts them`(_ stage: Stage) throws {
    guard case .filter(let call) = stage.content else {
      Issue.record("the stage is not a filter")
      return
    }
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText()
    let font = try FontRenderer().readFont(FontAssetTests.dejaVu(), lease: nil)
    catalogue.assets = AssetStore(["brand": .font(font)])
    let description = try #require(catalogue.description(named: call.name))
    #expect(Set(call.parameters.keys) == Set(description.parameters.map(\.name)))
    _ = try catalogue.resolve([stage])
  }
}
