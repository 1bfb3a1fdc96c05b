public import SidelightKernels

// Finders and mattes of a program are types of scenes.
@_exported public import SidelightScene

/// The finders, models and mattes that the filters of this module use.
///
/// A finder or matte of your own takes a few lines:
///
/// ```swift
/// var vision = VisionConfiguration()
/// vision.faceFinder = { MarkerFinder() }
/// vision.mattes["slide"] = { SlideMatte() }
/// catalogue.registerVision(vision)
/// ```
public struct VisionConfiguration: Sendable {
  /// The folder of OpenCV's data, with the folder `haarcascades`. `nil` uses the folder of Debian's
  /// package `opencv-data`.
  public var cascadeFolder: String?

  /// Creates the finder of a session, for all filters that find faces. `nil` uses the models, or
  /// OpenCV's cascade without models.
  ///
  /// A finder also works in programs that are built without Vision. Faces are then not followed by
  /// optical flow, and every frame is searched around every face.
  public var faceFinder: (@Sendable () -> any FaceFinder)?

  /// Functions that create the matte source of a session, by the name of the matte in pipelines.
  /// Models are added here by ``add(_:)``.
  ///
  /// - Precondition: No name is `plate`, `key` or `portrait`.
  public var mattes: [String: @Sendable () -> any MatteSource] = [:] {
    didSet {
      let reserved = ConfiguredModel.reservedNames.intersection(self.mattes.keys)
      precondition(reserved.isEmpty, "the name \(reserved.first ?? "") is reserved")
    }
  }

  private var faceModels: [(model: ModelFaceFinder, name: String)] = []
  private var landmarkModel: (model: FaceLandmarkModel, name: String)?
  private var processFinder: (@Sendable () -> any FaceFinder)?

  /// Creates a configuration without models.
  public init() {}

  /// Loads models, and runs all of them once.
  ///
  /// - Parameters:
  ///   - models: The models.
  ///   - onnxRuntime: The path of ONNX Runtime's shared library; `nil` if it is not installed.
  /// - Throws: ``VisionError`` that names the model and its file, or the library. In a program that
  ///   is built without Vision, every model is an error.
  public init(models: [ConfiguredModel], onnxRuntime: String? = nil) throws(VisionError) {
    self.init()
    guard !models.isEmpty else { return }
    #if Vision
      let runtimes = try Runtimes(models, onnxRuntime: onnxRuntime)
      for model in models {
        do {
          let file = try ModelFile(name: model.name, path: model.file)
          try self.add(
            VisionModel(file, task: model.task, runtime: try runtimes.runtime(of: model)))
        } catch {
          throw VisionError(error)
        }
      }
    #else
      throw VisionError(
        .unavailable,
        "model \(models[0].name) (\(models[0].file)): this program is built without Vision, "
          + "which models need")
    #endif
  }

  /// Adds a model that is loaded.
  ///
  /// Any number of models for mattes, which pipelines name, two for faces and one for landmarks can
  /// be added. Of two models for faces, the one with the larger input searches whole frames, and
  /// the other one searches around known faces.
  ///
  /// - Throws: ``VisionError`` that names the model.
  public mutating func add(_ model: VisionModel) throws(VisionError) {
    switch model.task {
    case .matte:
      let source = try ModelMatteSource(model)
      try self.add(matte: model.name) { source }
    case .faces:
      guard self.faceModels.count < 2 else {
        throw VisionError(
          .invalidConfiguration,
          "model \(model.name) is the third one for faces; the limit is 2")
      }
      self.faceModels.append((try ModelFaceFinder(model), model.name))
    case .landmarks:
      if let known = self.landmarkModel {
        throw VisionError(
          .invalidConfiguration,
          "the models \(known.name) and \(model.name) are for landmarks; the limit is 1")
      }
      self.landmarkModel = (try FaceLandmarkModel(model), model.name)
    }
  }

  /// Adds mattes and a face finder that filter processes serve. The finder replaces the built-in
  /// search.
  ///
  /// - Throws: ``VisionError`` if the name of a matte is taken, or a model finds faces too.
  public mutating func add(
    mattes: [String: @Sendable () -> any MatteSource],
    faceFinder: (name: String, make: @Sendable () -> any FaceFinder)?
  ) throws(VisionError) {
    for (name, source) in mattes { try self.add(matte: name, source) }
    guard let faceFinder else { return }
    if let model = self.faceModels.first {
      throw VisionError(
        .invalidConfiguration,
        "the filter process's \(faceFinder.name) and the model \(model.name) find faces; remove one"
      )
    }
    self.processFinder = faceFinder.make
  }

  private mutating func add(
    matte name: String, _ source: @escaping @Sendable () -> any MatteSource
  ) throws(VisionError) {
    guard self.mattes[name] == nil else {
      throw VisionError(.invalidConfiguration, "two mattes have the name \(name)")
    }
    guard !ConfiguredModel.reservedNames.contains(name) else {
      throw VisionError(.invalidConfiguration, "the name \(name) is reserved")
    }
    self.mattes[name] = source
  }

  // MARK: Tools of filters

  /// Returns the tools of the filters that find faces.
  ///
  /// - Throws: ``VisionError`` with a message that names the missing part.
  package func faceTools() throws(VisionError) -> FaceTools {
    if let finder = self.faceFinder {
      return FaceTools(isCustom: true, finder: finder, points: Self.makePointTracker)
    }
    if let finder = self.processFinder {
      let landmarks = self.landmarkModel?.model
      return FaceTools(
        finder: { Self.withLandmarks(finder(), landmarks) }, protectingFinder: finder,
        points: Self.makePointTracker)
    }
    #if Vision
      let cascade: CascadeFaceFinder
      do {
        cascade = try CascadeFaceFinder(
          .alt2, folder: self.cascadeFolder ?? CascadeFaceFinder.debianFolder)
      } catch {
        let error = VisionError(error)
        throw VisionError(
          error.code, "\(error.message); Debian's package opencv-data has this file")
      }
      let model = self.modelFinder
      let finder = Self.withLandmarks(model ?? cascade, self.landmarkModel?.model)
      // A model misses faces that the cascade finds.
      let protecting: any FaceFinder =
        if let model { UnionFaceFinder([model, cascade]) } else { cascade }
      return FaceTools(
        finder: { finder }, protectingFinder: { protecting }, points: Self.makePointTracker)
    #else
      throw VisionError(.unavailable, "this server is built without Vision")
    #endif
  }

  /// The finder that searches by using the models; `nil` without models.
  private var modelFinder: (any FaceFinder)? {
    let models = self.faceModels.map(\.model).sorted { $0.inputArea > $1.inputArea }
    guard let far = models.first else { return nil }
    return models.count > 1 ? TwoRangeFaceFinder(far: far, near: models[1]) : far
  }

  private static func withLandmarks(
    _ finder: any FaceFinder, _ model: FaceLandmarkModel?
  ) -> any FaceFinder {
    guard let model else { return finder }
    return LandmarkFaceFinder(finder) { face, picture in try model.locate(face, in: picture) }
  }

  private static let makePointTracker: @Sendable () -> any PointTracker = {
    #if Vision
      OpticalFlow()
    #else
      NoPointTracker()
    #endif
  }
}

#if Vision
  /// The libraries that run models.
  private struct Runtimes {
    private let onnxRuntime: ONNXRuntime?

    /// Loads ONNX Runtime if a model may use it.
    init(_ models: [ConfiguredModel], onnxRuntime: String?) throws(VisionError) {
      let isUsed = models.contains { $0.runtime != .opencv }
      guard let path = onnxRuntime, isUsed else {
        self.onnxRuntime = nil
        return
      }
      self.onnxRuntime = try ONNXRuntime(path: path)
    }

    func runtime(of model: ConfiguredModel) throws(VisionError) -> any ModelRuntime {
      switch model.runtime {
      case .opencv: return OpenCVRuntime()
      case .auto: return self.onnxRuntime ?? OpenCVRuntime()
      case .onnxruntime:
        guard let runtime = self.onnxRuntime else {
          throw VisionError(
            .invalidConfiguration,
            "model \(model.name) (\(model.file)): the path of ONNX Runtime's library is not "
              + "configured")
        }
        return runtime
      }
    }
  }
#endif

extension FilterCatalogue {
  /// Adds the filters that need faces or mattes: `faceDetection`, `faceBlur`, `facePixellate`,
  /// `overlay` with anchors on faces, and `virtualBackground` and `backgroundBlur` with the mattes
  /// of models.
  ///
  /// If this module is built without the package trait `Vision`, or a file is missing, it adds the
  /// filters that depend on it as unavailable filters: a pipeline that names one is refused with
  /// the reason. A custom finder works in any build.
  ///
  /// - Parameter configuration: The finders, models and mattes.
  public mutating func registerVision(_ configuration: VisionConfiguration = VisionConfiguration())
  {
    let faces = Result { () throws(VisionError) in try configuration.faceTools() }
    self.register(FaceDetection.description, faces) { FaceDetection($0, tools: $1) }
    self.register(FacePrivacyFilter.blurDescription, faces) {
      FacePrivacyFilter($0, style: .blur, tools: $1)
    }
    self.register(FacePrivacyFilter.pixellateDescription, faces) {
      FacePrivacyFilter($0, style: .mosaic, tools: $1)
    }
    let tools = try? faces.get()
    self.register(Overlay.description) { Overlay($0, tools: tools) }
    self.registerBackgrounds(
      MatteTools(faces: tools, portrait: Self.portrait, models: configuration.mattes))
  }

  /// The matte from the outline of head and shoulders; `nil` without Vision.
  private static var portrait: MatteTools.Source? {
    #if Vision
      { PortraitMatteSource() }
    #else
      nil
    #endif
  }

  /// Adds a filter that needs tools, as one that is not available if they are missing.
  private mutating func register<Tools: Sendable>(
    _ description: FilterDescription, _ tools: Result<Tools, VisionError>,
    make: @escaping @Sendable (Arguments, Tools) -> any Filter
  ) {
    switch tools {
    case .success(let tools): self.register(description) { make($0, tools) }
    case .failure(let error): self.register(unavailable: description, reason: error.message)
    }
  }
}
