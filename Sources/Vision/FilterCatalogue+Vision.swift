public import SidelightKernels

extension FilterCatalogue {
  /// Adds the filters of this module, `faceDetection`.
  ///
  /// If this module is built without the package trait `Vision`, or a file is missing, it adds them
  /// as filters that are not available: a pipeline that names one is refused with the reason.
  ///
  /// - Parameter cascadeFolder: The folder of OpenCV's data, with the folder `haarcascades`. `nil`
  ///   is the folder of Debian's package `opencv-data`.
  public mutating func registerVision(cascadeFolder: String? = nil) {
    #if Vision
      do {
        let finder = try CascadeFaceFinder(
          .alt2, folder: cascadeFolder ?? CascadeFaceFinder.debianFolder)
        self.register(FaceDetection.description) { arguments in
          FaceDetection(arguments, finder: { finder }, points: { OpticalFlow() })
        }
      } catch {
        let reason = (error as? VisionError)?.message ?? "\(error)"
        self.register(
          unavailable: FaceDetection.description,
          reason: "\(reason); Debian's package opencv-data has this file")
      }
    #else
      self.register(
        unavailable: FaceDetection.description, reason: "this server is built without Vision")
    #endif
  }
}
