import SidelightKernelLanguage
import SidelightKernels
import SidelightVision
import Testing

@Suite struct `A build without Vision` {
  private static let reason = "this server is built without Vision"

  private static let catalogue: FilterCatalogue = {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerVision()
    return catalogue
  }()

  private static func error(_ stage: Stage) -> PipelineError? {
    do {
      _ = try Self.catalogue.resolve(Pipeline(stages: [stage]))
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: ["faceDetection", "faceBlur", "facePixellate"])
  func `a filter of faces is described and refused with the reason`(name: String) throws {
    #expect(Self.catalogue.description(named: name) == nil)
    let (description, reason) = try #require(Self.catalogue.unavailableFilter(named: name))
    #expect(description.name == name && reason == Self.reason)
    let error = try #require(Self.error(.filter(name)))
    #expect(error.code == .unavailableFilter && error.message.hasSuffix(Self.reason))
  }

  @Test func `parameters that need faces are refused with the reason`() throws {
    let store = AssetStore()
    store.put(
      .image(try ImageAsset(Painting.frame(left: green, right: orange))), named: "glasses")
    var catalogue = Self.catalogue
    catalogue.assets = store
    let anchors: [(String, Bool)] = [("frame", true), ("eyes", false)]
    for (anchor, works) in anchors {
      let sticker = Stage.filter(
        "overlay", ["asset": .text("glasses"), "anchor": .text(anchor)])
      let result = Result { () throws(PipelineError) in
        try catalogue.resolve(Pipeline(stages: [sticker]))
      }
      switch result {
      case .success: #expect(works)
      case .failure(let error):
        #expect(!works && error.code == .unavailableFilter)
        #expect(error.message.hasSuffix(Self.reason))
      }
    }
    let portrait = Stage.filter("backgroundBlur", ["matte": .text("portrait")])
    let error = try #require(Self.error(portrait))
    #expect(error.code == .unavailableFilter && error.message.hasSuffix(Self.reason))
  }

  @Test func `a model is refused with the reason`() throws {
    let model = try ConfiguredModel("person=matte:/nowhere/person.onnx")
    let error = #expect(throws: VisionError.self) { try VisionConfiguration(models: [model]) }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("built without Vision") == true)
  }

  @Test func `a key colour becomes the background`() async throws {
    let frame = try Painting.frame(left: green, right: orange)
    let key = Stage.filter(
      "chromaKey", ["backgroundColor": .color(RGBAColor(red: 0, green: 0, blue: 1))])
    let result = try await Painting.filter(frame, [key], in: Self.catalogue)
    #expect(isNear(Painting.color(of: result, at: 40), [0, 0, 255]))
    #expect(isNear(Painting.color(of: result, at: 280), orange))
  }

  @Test func `a plate tells the background from the person`() async throws {
    let store = AssetStore()
    store.put(.image(try ImageAsset(Painting.frame(left: green, right: green))), named: "room")
    var catalogue = Self.catalogue
    catalogue.assets = store
    let frame = try Painting.frame(left: orange, 100, right: green)
    let background = Stage.filter(
      "virtualBackground",
      [
        "plate": .text("room"), "backgroundColor": .color(RGBAColor(red: 0, green: 0, blue: 1)),
      ])
    let result = try await Painting.filter(frame, [background], in: catalogue)
    #expect(isNear(Painting.color(of: result, at: 280), [0, 0, 255]))
    let person = Painting.color(of: result, at: 40)
    #expect(person[0] > 192 && person[2] < 96)
  }

  @Test func `a custom finder makes the filters of faces available`() async throws {
    struct EveryFrame: FaceFinder {
      func faces(in picture: LumaPicture) -> [DetectedFace] {
        [DetectedFace(center: PicturePoint(x: 160, y: 90), size: 60)]
      }
    }
    var vision = VisionConfiguration()
    vision.faceFinder = { EveryFrame() }
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerVision(vision)
    let frame = try Painting.frame(left: green, right: orange)
    let result = try await Painting.filter(frame, [.filter("faceBlur")], in: catalogue)
    // The edge between the colours is in the face. The rest of the frame is unchanged.
    #expect(Painting.color(of: result, at: 150) != green)
    #expect(Painting.color(of: result, at: 10) == green)
    #expect(Painting.color(of: result, at: 310) == orange)
  }
}
