package import SidelightKernels
package import SidelightScene

/// An analysis of the faces in a session's frames: positions, ids, angles, and attendance.
package struct FaceDetection: Filter {
  package static let description = FilterDescription(
    name: "faceDetection",
    summary: "Finds and follows faces, and reports who is present. Does not change frames.",
    category: .analysis, reach: .frame, fidelity: .formula,
    keywords: "attendance count people presence find",
    formula: """
      A cascade of OpenCV (haarcascade_frontalface_alt2) searches a copy of at most 320x180 \
      pixels, at 0, -25 and 25 degrees in turn; optical flow follows the faces in between. Two \
      detections within a second confirm a face, nine searches without it drop it. Detections \
      face: the square around each confirmed face, in pixels of the frame, with its id and \
      confidence. An id belongs to a place, not to a person: a face that returns within two \
      seconds near the place where it was lost keeps it, unless another lost face could have come \
      there; any other face has a new one. faces: the number of faces. facesSeen: of those \
      present so far. roll: the clockwise angle of each face in \
      degrees, in the order of the detections. presentIds, presentSeconds: the faces that were \
      there for a second, and for how long. leftIds, leftSeconds: the last 64 that were absent for \
      two seconds afterwards. searchError: the reason, if the last search of a whole frame failed
      """,
    parameters: [
      ParameterDescription(
        "everyNth", .number, default: .number(2), slider: 1 ... 30, limits: 1 ... 100_000,
        "The interval in frames: 2 analyses every second frame."),
      ParameterDescription(
        "minSize", .number, default: .number(0.125), slider: 0.05 ... 1, limits: 0.05 ... 1,
        "The side of the smallest faces that are found, as a share of the frame's height."),
      ParameterDescription(
        "maxFaces", .number, default: .number(8), slider: 1 ... 32, limits: 1 ... 32,
        "The largest number of faces that are followed."),
    ],
    requirement: .vision)

  private let analysis: Analysis

  /// - Parameters:
  ///   - arguments: The validated parameters.
  ///   - tools: The source of finders and optical flow.
  package init(_ arguments: Arguments, tools: FaceTools) {
    self.analysis = Analysis(
      everyNth: Int(arguments.number("everyNth").rounded()),
      configuration: FaceTracker.Configuration(
        maxFaces: Int(arguments.number("maxFaces").rounded()),
        minSize: arguments.number("minSize")),
      tools: tools)
  }

  package var description: FilterDescription { Self.description }

  package func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.analysis(self.analysis)] }

  private struct Analysis: SceneAnalysis {
    let everyNth: Int
    let configuration: FaceTracker.Configuration
    let tools: FaceTools

    /// Searches one frame for upright faces, which are returned without ids and attendance.
    func analyze(_ frame: Frame, at time: FrameTime) async throws -> [String: AnalysisValue] {
      let picture = UprightPicture(reducing: frame)
      var finder = self.tools.makeFinder()
      let (width, height) = (Double(picture.luma.width), Double(picture.luma.height))
      let least = self.configuration.minSize * height
      let faces = try await finder.faces(
        in: picture.luma, color: picture.color,
        search: FaceSearch(sizes: least ... max(least, width, height))
      )
      .sorted { $0.size > $1.size }.prefix(self.configuration.maxFaces)
      return [
        "face": .list(
          faces.map { face in
            .region(
              picture.frameRegion(of: FaceBox(face)), confidence: face.confidence, id: 0)
          }),
        "faces": .number(Double(faces.count)),
        "roll": .vector(faces.map { $0.roll * 180 / .pi }),
      ]
    }

    func makeAnalyzer() -> any FrameAnalyzer {
      Analyzer(
        scene: FaceScene(
          finder: self.tools.makeFinder(), points: self.tools.makePointTracker(),
          configuration: self.configuration))
    }

    var request: any SceneRequest { SceneDetection(analysis: self) }
  }

  /// The analyzer of one session.
  private struct Analyzer: FrameAnalyzer {
    var scene: FaceScene
    private var attendance = FaceAttendance()

    init(scene: FaceScene) {
      self.scene = scene
    }

    mutating func analyze(
      _ frame: Frame, at time: FrameTime
    ) async -> [String: AnalysisValue] {
      let picture = UprightPicture(reducing: frame)
      let report = await self.scene.step(
        picture.luma, color: picture.color,
        at: SceneTime(index: time.index, time: time.arrival))
      return self.attendance.results(
        report.faces, of: picture, at: report.frame.time, searchError: self.scene.searchError)
    }
  }

  /// The analysis as a stage of a session's scene.
  private struct SceneDetection: StagedRequest {
    let analysis: Analysis

    var isCopyable: Bool { true }
    var stepSummary: String { "the faces of the scene reported" }
    var faces: FaceRequest? {
      FaceRequest(self.analysis.configuration, tools: self.analysis.tools)
    }

    func makeStage() -> any SceneStage { Stage(analysis: self.analysis) }
  }

  /// The state of the analysis in a session's scene.
  private struct Stage: SceneStage {
    private var analysis: Analysis
    private var attendance = FaceAttendance()
    private var report: [String: AnalysisValue]?
    /// The frames since the last report.
    private var waited: Int

    init(analysis: Analysis) {
      self.analysis = analysis
      self.waited = analysis.everyNth
    }

    mutating func adopt(_ request: any SceneRequest) -> Bool {
      guard let detection = request as? SceneDetection else { return false }
      self.analysis = detection.analysis
      return true
    }

    mutating func step(_ view: SceneView) -> any Sendable {
      self.waited += 1
      // Analyses are due half as often while the session is short of time.
      guard self.waited >= self.analysis.everyNth * (view.isReduced ? 2 : 1) else { return true }
      self.waited = 0
      // Other stages may follow more faces.
      let faces = view.faces?.faces.prefix(self.analysis.configuration.maxFaces) ?? []
      self.report = self.attendance.results(
        Array(faces), of: view.picture, at: view.time.time, searchError: view.searchError)
      return true
    }

    mutating func takeReport() -> [String: AnalysisValue]? { self.report.take() }
  }
}

extension FaceAttendance {
  fileprivate mutating func results(
    _ faces: [TrackedFace], of picture: UprightPicture, at time: Duration,
    searchError: (any Error)?
  ) -> [String: AnalysisValue] {
    _ = self.add(faces, at: time)
    let present = self.presences.filter { !$0.hasLeft }
    let left = self.presences.filter(\.hasLeft)
    var results: [String: AnalysisValue] = [
      "face": .list(
        faces.map { face in
          .region(
            picture.frameRegion(of: face.box), confidence: face.confidence,
            id: UInt64(face.id.value))
        }),
      "faces": .number(Double(faces.count)),
      "facesSeen": .number(Double(self.facesSeen)),
      "roll": .vector(faces.map { $0.box.roll * 180 / .pi }),
      "presentIds": .vector(present.map { Double($0.id.value) }),
      "presentSeconds": .vector(present.map(\.seconds)),
      "leftIds": .vector(left.map { Double($0.id.value) }),
      "leftSeconds": .vector(left.map(\.seconds)),
    ]
    if let error = searchError { results["searchError"] = .text("\(error)") }
    return results
  }
}

extension FaceAttendance.Presence {
  fileprivate var seconds: Double { self.duration / .seconds(1) }
}
