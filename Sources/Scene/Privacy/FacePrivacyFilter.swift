package import SidelightKernels

/// The filters `faceBlur` and `facePixellate`, which cover faces.
package struct FacePrivacyFilter: SceneFilter {
  /// The look of a covered face.
  package enum Style: Sendable, Hashable {
    /// Cells of one colour.
    case mosaic
    /// Cells, blurred.
    case blur
  }

  package static let blurDescription = Self.describe(
    "faceBlur", .blur,
    "Blurs faces, and the whole frame where it is not certain that all are found.",
    "faces are the cells of facePixellate, blurred with the weights 1, 2, 1 along each axis and "
      + "interpolated linearly",
    keywords: "anonymous anonymize censor hide privacy person people")
  package static let pixellateDescription = Self.describe(
    "facePixellate", .stylize,
    "Covers faces with a mosaic, and blurs the whole frame where it is not certain that all are "
      + "found.",
    "faces are cells of one colour",
    keywords: "anonymous anonymize censor hide privacy person people blur pixelate mosaic")

  private static let reasons = FaceCoverage.WholeFrameReason.allCases.map(\.rawValue)
    .joined(separator: ", ")

  private static func describe(
    _ name: String, _ category: FilterDescription.Category, _ summary: String, _ look: String,
    keywords: String
  ) -> FilterDescription {
    FilterDescription(
      name: name, summary: summary, category: category, reach: .frame, fidelity: .formula,
      keywords: keywords,
      formula: """
        Faces are found and followed as by faceDetection, in a copy of at most 320x180 pixels. \
        Each is covered by an ellipse with the half axes (1/2 + grow/2) s and (1/2 + grow) s for \
        the face width s, larger for a face that moves or was missed; what changed since the last \
        searches, other than by motion, is covered until it was searched, and what came in through \
        the upper or a side edge until it was searched away from the edges. Square cells of the \
        side strength s/6, fixed to the face, have the mean of the frame's samples whose centres \
        they contain, plane by plane; \(look). The whole frame is blurred (about a Gaussian of \
        sigma = strength height/18) until a face is found, after a cut or an error, and while a \
        face is lost or a search fails or is overdue. Means \
        are of the frame on black, and covered pixels become opaque. Covers grow by the reach of \
        the blurs before them. Results, when the cover of the whole frame changes \
        and every second while it lasts: wholeFrame, the reason (\(Self.reasons)) or nothing; \
        wholeFrameSeconds, the time since it began
        """,
      parameters: [
        ParameterDescription(
          "strength", .number, default: .number(1), slider: 1 ... 4, limits: 1 ... 4,
          "The coarseness: 6/strength cells across a face."),
        ParameterDescription(
          "grow", .number, default: .number(0.24), slider: 0.1 ... 1, limits: 0.1 ... 1,
          "The margin above and below a face in face widths; half of it at the sides."),
        ParameterDescription(
          "whenUnsure", .choice(FacePrivacy.WhenUnsure.allCases.map(\.rawValue)),
          default: .text(FacePrivacy.WhenUnsure.frame.rawValue),
          """
          The cover while a face is lost or its place is uncertain: frame, the whole frame; hold, \
          its last place, which grows.
          """),
        ParameterDescription(
          "release", .number, default: .number(0), slider: 0 ... 60, limits: 0 ... 86_400,
          "The seconds without faces and motion after which the frame is shown again; 0 is never."),
        ParameterDescription(
          "minSize", .number, default: .number(0.125), slider: 0.05 ... 1, limits: 0.05 ... 1,
          "The side of the smallest faces that are found, as a share of the frame's height."),
        ParameterDescription(
          "maxFaces", .number, default: .number(8), slider: 1 ... 32, limits: 1 ... 32,
          "The largest number of faces that are followed; with more the whole frame is blurred."),
      ],
      requirement: .vision)
  }

  package let description: FilterDescription
  private let operation: FacePrivacyOperation

  /// - Parameters:
  ///   - arguments: The validated parameters.
  ///   - style: The look of a covered face.
  ///   - tools: The source of finders and optical flow.
  package init(_ arguments: Arguments, style: Style, tools: FaceTools) {
    self.description = style == .blur ? Self.blurDescription : Self.pixellateDescription
    self.operation = FacePrivacyOperation(
      style: style,
      privacy: FacePrivacy.Configuration(
        grow: arguments.number("grow"), strength: arguments.number("strength"),
        // An unknown choice covers more.
        whenUnsure: FacePrivacy.WhenUnsure(rawValue: arguments.text("whenUnsure")) ?? .frame,
        release: .seconds(arguments.number("release"))),
      faces: FaceRequest(
        FaceTracker.Configuration(
          protects: true, maxFaces: Int(arguments.number("maxFaces").rounded()),
          minSize: arguments.number("minSize")),
        tools: tools))
  }

  package var protects: Bool { true }

  package func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.scene(self.operation)] }
}

/// The cover of faces: a ``FacePrivacy`` per session, and a pass that draws its decision.
struct FacePrivacyOperation: SceneOperation, StagedRequest {
  let style: FacePrivacyFilter.Style
  let privacy: FacePrivacy.Configuration
  let request: FaceRequest

  init(
    style: FacePrivacyFilter.Style, privacy: FacePrivacy.Configuration, faces request: FaceRequest
  ) {
    self.style = style
    self.privacy = privacy
    self.request = request
  }

  var faces: FaceRequest? { self.request }

  var summary: String {
    switch self.style {
    case .mosaic: "faces as cells, or the frame blurred"
    case .blur: "faces or the frame blurred"
    }
  }

  func makeStage() -> any SceneStage {
    Stage(privacy: FacePrivacy(self.privacy))
  }

  /// Only means of cells, which are too coarse to show a face, go beyond their pixels.
  func spread(in geometry: FrameGeometry) -> Double? { 0 }

  func makePass(_ setting: PassSetting, index: Int) -> any Pass {
    FaceCoverPass(
      setting: setting, style: self.style, strength: self.privacy.strength, index: index)
  }

  private struct Stage: SceneStage {
    var privacy: FacePrivacy
    private var explanation = CoverExplanation()

    init(privacy: FacePrivacy) {
      self.privacy = privacy
    }

    var needsFaceSearch: Bool { self.privacy.needsSearch }

    /// Takes over the settings of either filter, and keeps the state.
    mutating func adopt(_ request: any SceneRequest) -> Bool {
      guard let operation = request as? FacePrivacyOperation else { return false }
      self.privacy.configuration = operation.privacy
      return true
    }

    mutating func step(_ view: SceneView) -> any Sendable {
      let coverage = self.privacy.coverage(
        of: view.time, picture: view.picture.luma, faces: view.faces)
      self.explanation.add(coverage, at: view.time.time)
      return coverage
    }

    mutating func takeReport() -> [String: AnalysisValue]? { self.explanation.takeReport() }
  }
}

/// The reason for covering whole frames, and the time since when, as reported to clients.
private struct CoverExplanation: Sendable {
  /// The time between reports of the same reason.
  static let interval = Duration.seconds(1)

  private var reason: FaceCoverage.WholeFrameReason?
  /// The time since which all frames are covered whole.
  private var since: Duration?
  private var reported: (reason: FaceCoverage.WholeFrameReason?, time: Duration)?
  private var time = Duration.zero

  mutating func add(_ coverage: FaceCoverage, at time: Duration) {
    if case .whole(let reason) = coverage { self.reason = reason } else { self.reason = nil }
    self.since = self.reason == nil ? nil : self.since ?? time
    self.time = time
  }

  mutating func takeReport() -> [String: AnalysisValue]? {
    let isNew = self.reported?.reason != self.reason
    let isDue =
      self.reason != nil && self.reported.map { self.time - $0.time >= Self.interval } ?? true
    guard isNew || isDue else { return nil }
    self.reported = (self.reason, self.time)
    return [
      "wholeFrame": .text(self.reason?.rawValue ?? ""),
      "wholeFrameSeconds": .number(self.since.map { (self.time - $0) / .seconds(1) } ?? 0),
    ]
  }
}
