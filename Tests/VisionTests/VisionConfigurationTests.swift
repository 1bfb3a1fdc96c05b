import Foundation
import SidelightKernelLanguage
import SidelightKernels
import SidelightScene
import Testing

import SidelightVision

/// Finders, mattes and models that are loaded by a runtime of the test, in every build.
@Suite struct VisionConfigurationTests {
  /// A runtime whose models return the same values in every run.
  struct FixedRuntime: ModelRuntime {
    struct Model: LoadedModel {
      let inputs: [TensorShape]
      let outputs: [TensorShape]
      let values: [[Float]]

      func run(_ inputs: [Tensor]) -> [Tensor] {
        zip(self.outputs, self.values).map { Tensor(dimensions: $0.dimensions, values: $1) }
      }
    }

    let name = "fixed values"
    let model: Model

    func load(_ model: ModelFile, inputs: [TensorShape]) -> any LoadedModel { self.model }
  }

  /// Finds one face, of a size and at a place.
  struct FixedFinder: FaceFinder {
    var face = DetectedFace(center: PicturePoint(x: 100, y: 90), size: 60)

    func faces(in picture: LumaPicture) -> [DetectedFace] { [self.face] }
  }

  /// Finds the face of the frame that the first sample numbers.
  struct MovingFinder: FaceFinder {
    static func place(_ frame: Int) -> PicturePoint {
      PicturePoint(x: 60 + 3 * Double(frame), y: 90)
    }

    func faces(in picture: LumaPicture) -> [DetectedFace] {
      [DetectedFace(center: Self.place(Int(picture.samples[0])), size: 60)]
    }
  }

  struct EverythingMatte: MatteSource {
    func matte(of picture: ColorPicture, faces: [DetectedFace]) -> MatteEstimate {
      MatteEstimate(width: 1, height: 1, values: [1])
    }
  }

  static func model(
    _ name: String, _ task: ModelTask, input: [Int],
    outputs: [(dimensions: [Int], values: [Float])]
  ) throws -> VisionModel {
    let file = try ModelFile(
      name: name, path: "/models/\(name).onnx",
      bytes: ONNXBuilder.convolution(weights: [[0, 1, 0]], width: 8, height: 4).bytes)
    let model = FixedRuntime.Model(
      inputs: [TensorShape(name: "input", dimensions: input)],
      outputs: outputs.enumerated().map {
        TensorShape(name: "output\($0)", dimensions: $1.dimensions)
      }, values: outputs.map(\.values))
    return try VisionModel(file, task: task, runtime: FixedRuntime(model: model))
  }

  /// A model that finds a face in the middle of its input.
  static func faceModel(_ name: String, side: Int, share: Float = 0.2) throws -> VisionModel {
    try Self.model(
      name, .faces, input: [1, 3, side, side],
      outputs: [
        ([1, 1, 2], [0, 1]),
        ([1, 1, 4], [0.5 - share / 2, 0.5 - share / 2, 0.5 + share / 2, 0.5 + share / 2]),
      ])
  }

  static func matteModel(_ name: String) throws -> VisionModel {
    try Self.model(
      name, .matte, input: [1, 3, 2, 2], outputs: [([1, 1, 2, 2], [0, 0.25, 0.5, 1])])
  }

  static func landmarkModel(_ name: String) throws -> VisionModel {
    try Self.model(
      name, .landmarks, input: [1, 3, 192, 192],
      outputs: [([1, 1404], [Float](repeating: 96, count: 1404)), ([1, 1], [8])])
  }

  private static let color = TestPictures.noise(width: 320, height: 180)
  private static let luma = LumaPicture(Self.color)

  private static func message(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? VisionError)?.message ?? "\(error)"
    }
  }

  // MARK: Custom finders and mattes

  @Test func `a custom finder replaces the cascade, in every build`() throws {
    var vision = VisionConfiguration()
    vision.cascadeFolder = "/nowhere"
    vision.faceFinder = { FixedFinder() }
    let tools = try vision.faceTools()
    #expect(tools.isCustom)
    #expect(tools.makeFinder() is FixedFinder && tools.makeProtectingFinder() is FixedFinder)
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerVision(vision)
    #expect(catalogue.description(named: "faceDetection") == FaceDetection.description)
  }

  @Test func `a moving face is followed by searches without optical flow`() async {
    var scene = FaceScene(finder: MovingFinder(), points: NoPointTracker())
    var faces: [TrackedFace] = []
    var ids: Set<FaceID> = []
    for frame in 0 ..< 60 {
      var samples = [UInt8](repeating: 90, count: 320 * 180)
      samples[0] = UInt8(frame)
      let picture = LumaPicture(width: 320, height: 180, samples: samples)
      let place = MovingFinder.place(frame)
      let report = await scene.step(
        picture, at: SceneTime(index: UInt64(frame), time: .milliseconds(33 * frame)))
      faces = report.faces
      ids.formUnion(faces.map(\.id))
      guard frame >= 3 else { continue }
      #expect(faces.count == 1)
      #expect(faces.allSatisfy { abs($0.box.center.x - place.x) < 12 }, "\(frame)")
    }
    #expect(ids.count == 1)
  }

  @Test func `custom mattes have names`() throws {
    var vision = VisionConfiguration()
    vision.mattes["everything"] = { EverythingMatte() }
    #expect(vision.mattes.keys.sorted() == ["everything"])
  }

  @Test func `a filter process's finder replaces the search, unless a model finds faces too`()
    throws
  {
    var vision = VisionConfiguration()
    vision.cascadeFolder = "/nowhere"
    try vision.add(
      mattes: ["person": { EverythingMatte() }], faceFinder: ("look", { FixedFinder() }))
    let tools = try vision.faceTools()
    // It returns: a process that does not is ended.
    #expect(!tools.isCustom)
    #expect(tools.makeFinder() is FixedFinder && tools.makeProtectingFinder() is FixedFinder)
    for (name, words) in [
      ("person", "two mattes have the name person"), ("key", "the name key is reserved"),
    ] {
      let matte: [String: @Sendable () -> any MatteSource] = [name: { EverythingMatte() }]
      #expect(Self.message { try vision.add(mattes: matte, faceFinder: nil) } == words)
    }
    try vision.add(Self.faceModel("faces", side: 64))
    #expect(
      Self.message { try vision.add(mattes: [:], faceFinder: ("look", { FixedFinder() })) }
        == "the filter process's look and the model faces find faces; remove one")
  }

  // MARK: Models

  @Test func `each source of a model's matte has a separate state`() async throws {
    var vision = VisionConfiguration()
    try vision.add(Self.matteModel("person"))
    let make = try #require(vision.mattes["person"])
    var (one, two) = (make(), make())
    #expect(try await one.matte(of: Self.color, faces: []).values == [0, 0.25, 0.5, 1])
    #expect(try await two.matte(of: Self.color, faces: []).width == 2)
  }

  @Test func `too many models of a task, and names that are taken, are refused`() throws {
    var vision = VisionConfiguration()
    vision.mattes["person"] = { EverythingMatte() }
    for (model, words) in [
      (try Self.matteModel("person"), "two mattes have the name person"),
      (try Self.matteModel("portrait"), "the name portrait is reserved"),
    ] {
      #expect(Self.message { try vision.add(model) } == words)
    }
    try vision.add(Self.faceModel("a", side: 64))
    try vision.add(Self.faceModel("b", side: 32))
    let third = try Self.faceModel("c", side: 16)
    #expect(
      Self.message { try vision.add(third) }
        == "model c is the third one for faces; the limit is 2")
    try vision.add(Self.landmarkModel("points"))
    let second = try Self.landmarkModel("more")
    #expect(
      Self.message { try vision.add(second) }
        == "the models points and more are for landmarks; the limit is 1")
  }

  #if Vision
    @Test func `without models the cascade searches, also for filters that protect`() throws {
      let tools = try VisionConfiguration().faceTools()
      #expect(!tools.isCustom)
      #expect(tools.makeFinder() is CascadeFaceFinder)
      #expect(tools.makeProtectingFinder() is CascadeFaceFinder)
      #expect(tools.makePointTracker() is OpticalFlow)
    }

    @Test func `a filter that protects searches with the model and the cascade`() async throws {
      var vision = VisionConfiguration()
      try vision.add(Self.faceModel("faces", side: 192))
      let tools = try vision.faceTools()
      #expect(!tools.isCustom)
      var finder = tools.makeFinder()
      var protecting = tools.makeProtectingFinder()
      #expect(finder is ModelFaceFinder && protecting is UnionFaceFinder)
      #expect(protecting.needsColor)
      // The model finds a face in noise, and the cascade the one of the portrait.
      #expect(try await finder.faces(in: Self.luma).count == 1)
      let portrait = TestPictures.placed(
        try TestPictures.portrait(), center: TestPictures.faceCenter,
        at: PicturePoint(x: 250, y: 90), scale: 0.6)
      let found = try await protecting.faces(
        in: LumaPicture(portrait), color: portrait, search: FaceSearch())
      #expect(found.contains { abs($0.center.x - 250) < 6 })
      #expect(found.contains { $0.center.x < 200 })
    }

    @Test(arguments: [false, true])
    func `the model with the larger input searches whole frames`(isReversed: Bool) async throws {
      var vision = VisionConfiguration()
      let models = [
        try Self.faceModel("near", side: 160, share: 0.5), try Self.faceModel("far", side: 192),
      ]
      for model in isReversed ? models.reversed() : models { try vision.add(model) }
      var finder = try vision.faceTools().makeFinder()
      #expect(finder is TwoRangeFaceFinder)
      func size(_ search: FaceSearch) async throws -> Double {
        try #require(
          try await finder.faces(in: Self.luma, color: Self.color, search: search).first
        ).size
      }
      // Both letterbox a square of 320 pixels, so the sizes have the ratio of the shares.
      let whole = try await size(FaceSearch())
      let window = FaceSearch.Window(center: PicturePoint(x: 160, y: 90), side: 320)
      let near = try await size(FaceSearch(window: window))
      #expect(abs(near / whole - 2.5) < 0.05)
    }

    @Test func `landmarks refine faces, but not where a filter protects`() throws {
      var vision = VisionConfiguration()
      try vision.add(Self.landmarkModel("points"))
      let tools = try vision.faceTools()
      #expect(tools.makeFinder() is LandmarkFaceFinder)
      #expect(tools.makeProtectingFinder() is CascadeFaceFinder)
    }

    @Test func `a missing cascade is an error with its path, also with a model`() throws {
      var vision = VisionConfiguration()
      try vision.add(Self.faceModel("faces", side: 192))
      vision.cascadeFolder = "/nowhere"
      let message = try #require(Self.message { _ = try vision.faceTools() })
      #expect(message.contains("/nowhere/haarcascades/haarcascade_frontalface_alt2.xml"))
      #expect(message.hasSuffix("Debian's package opencv-data has this file"))
    }
  #else
    @Test func `without Vision a model stops the start with its name and file`() throws {
      let model = try ConfiguredModel("person=matte:/models/person.onnx")
      #expect(
        Self.message { _ = try VisionConfiguration(models: [model]) }
          == "model person (/models/person.onnx): this program is built without Vision, which "
          + "models need")
      _ = try VisionConfiguration(models: [], onnxRuntime: "/nowhere")
      #expect(
        Self.message { _ = try VisionConfiguration().faceTools() }
          == "this server is built without Vision")
    }
  #endif
}

#if Vision
  /// Models in files, as a server loads them at the start.
  @Suite struct ConfiguredModelFileTests {
    /// Returns the error of a start with one model in a file.
    private func message(
      _ contents: [UInt8]?, task: ModelTask = .matte,
      runtime: ConfiguredModel.Runtime = .auto, description: String? = nil
    ) throws -> (message: String, path: String) {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("vision-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.appendingPathComponent("person.onnx").path
      if let contents { try Data(contents).write(to: URL(fileURLWithPath: path)) }
      if let description {
        try Data(description.utf8).write(to: folder.appendingPathComponent("person.json"))
      }
      let model = try ConfiguredModel(name: "person", task: task, file: path, runtime: runtime)
      do {
        let vision = try VisionConfiguration(models: [model])
        #expect(vision.mattes["person"] != nil)
        return ("", path)
      } catch {
        return (error.message, path)
      }
    }

    private func green(_ width: Int?, _ height: Int?) -> [UInt8] {
      ONNXBuilder.convolution(weights: [[0, 1, 0]], width: width, height: height).bytes
    }

    @Test(arguments: [ConfiguredModel.Runtime.auto, .opencv])
    func `a model in a file becomes a matte of its name`(runtime: ConfiguredModel.Runtime) throws {
      #expect(try self.message(self.green(16, 9), runtime: runtime).message == "")
    }

    @Test func `a start with an invalid model names the model, its file and the remedy`() throws {
      let cases: [(contents: [UInt8]?, task: ModelTask, words: [String])] = [
        (nil, .matte, ["the file cannot be read"]),
        (Array("not a model".utf8), .matte, []),
        (Array(self.green(16, 9).dropLast(20)), .matte, []),
        (self.green(100_000, 100_000), .matte, ["too many values"]),
        (self.green(nil, nil), .matte, ["export with fixed sizes"]),
        (self.green(16, 9), .faces, ["output 1x1x9x16"]),
        (self.green(16, 9), .landmarks, ["output 1x1x9x16"]),
        ([UInt8](repeating: 0, count: 256 << 20 + 1), .matte, ["more than 268435456 bytes"]),
      ]
      for (contents, task, words) in cases {
        let (message, path) = try self.message(contents, task: task)
        #expect(message.hasPrefix("model person (\(path)): "), "\(message)")
        for word in words { #expect(message.contains(word), "\(message)") }
      }
    }

    @Test func `a description that contradicts the task is an error`() throws {
      let (message, path) = try self.message(
        self.green(16, 9), description: #"{"task": "faces"}"#)
      #expect(message.hasPrefix("model person (\(path)): ") && message.contains("faces"))
    }

    @Test func `a model for ONNX Runtime needs the path of the library`() throws {
      let (message, path) = try self.message(self.green(16, 9), runtime: .onnxruntime)
      #expect(
        message
          == "model person (\(path)): the path of ONNX Runtime's library is not configured")
    }

    @Test func `a library that cannot be loaded stops the start unless no model uses it`() throws {
      for runtime in [ConfiguredModel.Runtime.auto, .onnxruntime] {
        let model = try ConfiguredModel(
          name: "person", task: .matte, file: "/nowhere/person.onnx", runtime: runtime)
        do {
          _ = try VisionConfiguration(models: [model], onnxRuntime: "/nowhere/libonnxruntime.so")
          Issue.record("it starts")
        } catch {
          #expect(error.code == .unavailable)
          #expect(error.message.contains("/nowhere/libonnxruntime.so"))
        }
      }
      let model = try ConfiguredModel("person=matte@opencv:/nowhere/person.onnx")
      do {
        _ = try VisionConfiguration(models: [model], onnxRuntime: "/nowhere/libonnxruntime.so")
        Issue.record("it starts")
      } catch {
        #expect(error.code == .unreadable)
      }
    }
  }
#endif
