import SidelightKernelLanguage
import SidelightKernels
import SidelightText
import Testing

/// The typed functions of `Stage`, which are generated from the catalogue, as ``TypedCalls`` is.
@Suite("Typed filters") struct TypedFilterTests {
  private static func call(_ stage: Stage) throws -> FilterCall {
    guard case .filter(let call) = stage.content else {
      throw PipelineError(code: .invalidStage, path: "", message: "not a filter")
    }
    return call
  }

  private static func catalogue() throws -> FilterCatalogue {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 2, height: 2))
    let image = Asset.image(try ImageAsset(try TestFrame.flat(geometry, 9)))
    let entries = Array(repeating: "0 0 0", count: 8).joined(separator: "\n")
    let cube = Asset.cube(try CubeFile.read(Array("LUT_3D_SIZE 2\n\(entries)".utf8)))
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText()
    let kernel = Asset.kernel(try KernelAsset(Array("kernel swap return color.bgr".utf8)))
    catalogue.assets = AssetStore([
      "image": image, "cube": cube, "kernel": kernel,
    ])
    return catalogue
  }

  @Test func `every filter of the catalogue has a typed function`() throws {
    let names = try TypedCalls.stages.map { try Self.call($0).name }
    let listed = try Self.catalogue().descriptions.map(\.name)
    #expect(names.sorted() == (listed + Self.otherFilters).sorted())
  }

  /// The filters of SidelightVision and SidelightBarcode, which the catalogue lacks.
  private static let otherFilters = [
    "aztecCodeGenerator", "barcode", "code128BarcodeGenerator", "faceBlur", "faceDetection",
    "facePixellate", "pDF417BarcodeGenerator", "qRCodeGenerator",
  ]

  @Test(arguments: TypedCalls.stages)
  func `a typed function passes all its arguments on, and the stage resolves`(stage: Stage) throws {
    let call = try Self.call(stage)
    let catalogue = try Self.catalogue()
    guard !Self.otherFilters.contains(call.name) else { return }
    let description = try #require(catalogue.description(named: call.name))
    #expect(call.parameters.keys.sorted() == description.parameters.map(\.name).sorted())
    for parameter in description.parameters {
      switch parameter.kind {
      case .number, .length, .vector, .flag:
        #expect(call.parameters[parameter.name] != parameter.defaultValue, "\(parameter.name)")
      case .point, .color, .choice, .asset, .text: break
      }
    }
    _ = try catalogue.resolve([stage])
  }

  @Test func `parameters that are left out are left to the catalogue`() {
    #expect(Stage.sepiaTone() == .filter("sepiaTone"))
    #expect(
      Stage.gaussianBlur(border: .transparent)
        == .filter("gaussianBlur", ["border": .text("transparent")]))
  }

  @Test func `each type of argument becomes the parameter value of its kind`() {
    #expect(
      Stage.gaussianBlur(radius: 12) == .filter("gaussianBlur", ["radius": .number(12)]))
    #expect(
      Stage.gaussianBlur(radius: .width(0.01))
        == .filter("gaussianBlur", ["radius": .length(Length(0.01, .width))]))
    #expect(
      Stage.zoomBlur(center: .center, amount: -3.5)
        == .filter("zoomBlur", ["center": .point(.center), "amount": .number(-3.5)]))
    #expect(
      Stage.whitePointAdjust(color: RGBAColor(red: 1, green: 0.9, blue: 0.8))
        == .filter("whitePointAdjust", ["color": .color(RGBAColor(red: 1, green: 0.9, blue: 0.8))]))
    #expect(
      Stage.temperatureAndTint(neutral: [5500, 0])
        == .filter("temperatureAndTint", ["neutral": .vector([5500, 0])]))
    #expect(
      Stage.grain(monochrome: false) == .filter("grain", ["monochrome": .flag(false)]))
    #expect(
      Stage.overlay(asset: "hat", fit: .fill)
        == .filter("overlay", ["asset": .text("hat"), "fit": .text("fill")]))
    #expect(
      Stage.kernel(asset: "glow.kernel", parameters: ["intensity": 0.8, "isSoft": true])
        == .filter(
          "kernel",
          ["asset": .text("glow.kernel"), "intensity": .number(0.8), "isSoft": .flag(true)]))
  }

  @Test func `modifiers set the properties of a stage`() {
    let region = Region(
      origin: FramePoint(x: Length(0), y: Length(8)), width: Length(0.5, .width), height: Length(16)
    )
    #expect(
      Stage.sepiaTone().named("look").mix(0.5).region(0, 8, .width(0.5), 16).off.onFailure(.blur)
        == Stage(
          .filter(FilterCall(name: "sepiaTone")), id: "look", isActive: false, mix: 0.5,
          region: region, failurePolicy: .blur))
    #expect(
      Stage.bloom().inLinearLight
        == Stage(.pipeline(Pipeline(stages: [.filter("bloom")], workingSpace: .sRGBLinear))))
  }

  @Test(arguments: [true, false])
  func `a pipeline in braces equals the one in brackets`(isWarm: Bool) {
    let built = Pipeline {
      .sepiaTone(intensity: 0.8); .vignette(intensity: 1)
      if isWarm { .vintageWarm() } else { .vintage() }
      if isWarm { .grain() }
      for angle in [1.0, 2] { .hueAdjust(angle: angle) }
      Pipeline(workingSpace: .sRGBLinear) { .bloom() }
    }
    var stages: [Stage] = [.sepiaTone(intensity: 0.8), .vignette(intensity: 1)]
    stages += isWarm ? [.vintageWarm(), .grain()] : [.vintage()]
    stages += [.hueAdjust(angle: 1), .hueAdjust(angle: 2)]
    stages.append(.pipeline(Pipeline(stages: [.bloom()], workingSpace: .sRGBLinear)))
    #expect(built == Pipeline(stages: stages))
    #expect(Pipeline { .sepiaTone() } == [.sepiaTone()])
    #expect(Pipeline {} == [])
  }
}
