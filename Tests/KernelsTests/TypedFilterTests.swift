import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The typed functions of `Stage`, which are generated from the catalogue. VisionTests has the
/// typed functions of SidelightVision.
@Suite("Typed filters") struct TypedFilterTests {
  /// Every filter, with all its parameters.
  private static let stages: [Stage] = [
    .affineTransform(transform: [1, 0, 0, 1, 5, 5], border: .transparent),
    .backgroundBlur(
      sigma: .height(0.5), matte: .key, plate: "image", color: RGBAColor(red: 1, green: 0, blue: 0),
      edge: 0.25, smoothing: 0.5, protect: false),
    .beauty(smoothing: 0.5),
    .blendWithMask(backgroundImage: "image", maskImage: "mask", fit: .stretch),
    .bloom(radius: .shortSide(0.25), intensity: 1.5, border: .transparent),
    .boxBlur(radius: .shortSide(0.25), border: .transparent),
    .brightnessStatistics(everyNth: 6),
    .bumpDistortion(center: Self.point, radius: .shortSide(0.25), scale: 1.5),
    .cartoon(tones: 3, lines: 0.5),
    .chromaKey(
      color: RGBAColor(red: 0, green: 0, blue: 1), near: 0.2, far: 0.3, spill: 0.5,
      backgroundImage: "image", backgroundColor: RGBAColor(red: 1, green: 1, blue: 1),
      fit: .stretch),
    .colorBalance(
      shadows: [1, 0, 1], midtones: [0, 1, 0], highlights: [1, 1, 1], keepsLuma: false),
    .colorControls(saturation: 2, brightness: 1, contrast: 2),
    .colorCube(asset: "cube", intensity: 0.5),
    .colorInvert(),
    .colorMatrix(
      rVector: [1, 1, 1, 1], gVector: [1, 1, 1, 1], bVector: [1, 1, 1, 1], aVector: [1, 1, 1, 1],
      biasVector: [1, 1, 1, 1]),
    .convolution3X3(weights: Self.numbers(9), bias: 1, border: .transparent),
    .convolution5X5(weights: Self.numbers(25), bias: 1, border: .transparent),
    .convolutionRGB3X3(weights: Self.numbers(9), bias: 1, border: .transparent),
    .crop(origin: Self.point, width: .width(0.5), height: .shortSide(0.25)),
    .crystallize(radius: .shortSide(0.25), center: Self.point),
    .dotScreen(center: Self.point, angle: 1, width: .width(0.5), sharpness: 0.35),
    .edgePreservingSmooth(amount: 0.5, edges: 0.2),
    .edges(intensity: 2),
    .exposureAdjust(ev: 1),
    .gammaAdjust(power: 2),
    .gaussianBlur(radius: .shortSide(0.25), border: .transparent),
    .gloom(radius: .shortSide(0.25), intensity: 1.5, border: .transparent),
    .glow(intensity: 1.6),
    .grain(amount: 0.015, seed: 1, monochrome: true),
    .grayscale(),
    .histogram(bins: 32, everyNth: 6),
    .holeDistortion(center: Self.point, radius: .shortSide(0.25)),
    .hueAdjust(angle: 1),
    .kernel(asset: "kernel", source: "color.bgr"),
    .median(),
    .lumaKey(
      low: 0.3, high: 0.4, invert: true, backgroundImage: "image",
      backgroundColor: RGBAColor(red: 1, green: 1, blue: 1), fit: .stretch),
    .lowLight(amount: 0.5, denoise: 0.25, smoothing: 2),
    .motion(threshold: 0.5, columns: 8, rows: 4, everyNth: 6),
    .motionBlur(radius: .shortSide(0.25), angle: 1, border: .transparent),
    .multiplyCompositing(backgroundImage: "image", fit: .stretch),
    .noiseReduction(noiseLevel: 0.01, sharpness: 1.4),
    .orient(quarterTurns: 1, mirrored: true),
    .overlay(
      asset: "image", anchor: .frame, origin: Self.point, width: .width(0.5),
      height: .shortSide(0.25), offset: Self.point, scale: 2, opacity: 0.5, fit: .stretch,
      faceOffset: [0.5, -0.5], which: .all, id: 3, rotate: false, fade: 0.5),
    .photoEffectChrome(),
    .photoEffectFade(),
    .photoEffectInstant(),
    .photoEffectMono(),
    .photoEffectNoir(),
    .photoEffectProcess(),
    .photoEffectTonal(),
    .photoEffectTransfer(),
    .pinchDistortion(center: Self.point, radius: .shortSide(0.25), scale: 1.5),
    .pixellate(center: Self.point, scale: .shortSide(0.25)),
    .posterize(levels: 7),
    .randomGenerator(seed: 1),
    .scale(width: .width(0.5), height: .shortSide(0.25), mode: .stretch),
    .screenBlendMode(backgroundImage: "image", fit: .stretch),
    .sepiaTone(intensity: 2),
    .sharpenAdaptive(sharpness: 2, noise: 0.05),
    .sketch(radius: .shortSide(0.25), strength: 5, shade: 0.5),
    .sharpenLuminance(sharpness: 1.4, radius: .shortSide(0.25)),
    .sourceOverCompositing(backgroundImage: "image", fit: .stretch),
    .temperatureAndTint(neutral: [5500, 10], targetNeutral: [5500, 10]),
    .twirlDistortion(center: Self.point, radius: .shortSide(0.25), angle: 4.141592653589793),
    .toneCurve(
      point0: [0, 0.5], point1: [0.25, 0.5], point2: [0.5, 0.25], point3: [0.75, 1],
      point4: [1, 0.5]),
    .unsharpMask(radius: .shortSide(0.25), intensity: 1.5, border: .transparent),
    .vibrance(amount: 1),
    .virtualBackground(
      matte: .key, plate: "image", color: RGBAColor(red: 1, green: 0, blue: 0), edge: 0.25,
      smoothing: 0.5, protect: false, backgroundImage: "image",
      backgroundColor: RGBAColor(red: 1, green: 1, blue: 1), fit: .stretch, lightWrap: 0.5),
    .vignette(intensity: 1, radius: 2),
    .vignetteEffect(center: Self.point, radius: .shortSide(0.25), intensity: 2, falloff: 0.25),
    .vintage(),
    .vintageWarm(),
    .whiteBalance(amount: 0.5, warmth: 0.25, smoothing: 2),
    .whitePointAdjust(color: RGBAColor(red: 1, green: 0.5, blue: 0)),
    .zoomBlur(center: Self.point, amount: 21, border: .transparent),
  ]

  private static let point = FramePoint(x: .width(0.25), y: .height(0.5))

  private static func numbers(_ count: Int) -> [Double] {
    (0 ..< count).map { Double($0) / 8 }
  }

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
    let kernel = Asset.kernel(try KernelAsset(Array("kernel swap return color.bgr".utf8)))
    catalogue.assets = AssetStore([
      "image": image, "mask": image, "cube": cube, "kernel": kernel,
    ])
    return catalogue
  }

  @Test func `every filter of the catalogue has a typed function`() throws {
    let names = try Self.stages.map { try Self.call($0).name }
    #expect(names.sorted() == FilterCatalogue.builtIn.descriptions.map(\.name).sorted())
  }

  @Test(arguments: stages)
  func `a typed function passes all its arguments on, and the stage resolves`(stage: Stage) throws {
    let call = try Self.call(stage)
    let description = try #require(FilterCatalogue.builtIn.description(named: call.name))
    #expect(call.parameters.keys.sorted() == description.parameters.map(\.name).sorted())
    _ = try Self.catalogue().resolve([stage])
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
