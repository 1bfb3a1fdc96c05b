public import SidelightKernels
import SidelightScene

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
