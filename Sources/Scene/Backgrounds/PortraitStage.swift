import SidelightKernels

/// The mattes of a session from a source that is too slow for the frame's path: it runs as a job,
/// on every third frame at most, and its matte is moved with the face until the next one.
struct PortraitStage: SceneStage {
  /// The result of a job.
  private struct Found: Sendable {
    let source: any MatteSource
    let estimate: MatteEstimate
    let face: TrackedFace
  }

  private var choice: MatteChoice
  private var smoothing: MatteSmoothing
  /// The source; `nil` while a job runs.
  private var source: (any MatteSource)?
  private var last: UprightPicture?
  /// The latest picture with its faces, which the next job searches.
  private var pending: (picture: ColorPicture, faces: [TrackedFace])?
  private var found: (estimate: MatteEstimate, face: TrackedFace)?
  /// The position of the face in the latest frame that showed it.
  private var box: FaceBox?
  private var seen: Duration?
  private var framesSinceJob = 0
  /// Counts the scenes, to avoid using an earlier scene's matte.
  private var generation = 0
  private var jobGeneration = 0
  private var report = MatteReport()

  /// The minimum number of frames from one job to the next.
  static let interval = 3
  /// The time for which the last matte is used without a face.
  static let holdTime = Duration.seconds(2)

  init(_ choice: MatteChoice) {
    self.choice = choice
    self.smoothing = MatteSmoothing(weight: choice.smoothing)
    self.framesSinceJob = Self.interval
  }

  mutating func adopt(_ request: any SceneRequest) -> Bool {
    guard let other = (request as? BackgroundOperation)?.choice, self.choice.continues(other)
    else { return false }
    if other.smoothing != self.choice.smoothing {
      self.smoothing = MatteSmoothing(weight: other.smoothing)
    }
    self.choice = other
    return true
  }

  mutating func step(_ view: SceneView) throws -> any Sendable {
    let picture = view.picture
    let isCut = self.last.map { last in
      picture.luma.meanChange(from: last.luma).map { $0 > LumaPicture.cutChange } ?? true
    }
    self.last = picture
    if isCut == true {
      self.found = nil
      self.generation += 1
      self.smoothing = MatteSmoothing(weight: self.choice.smoothing)
    }
    self.framesSinceJob += 1
    let faces = view.faces?.faces ?? []
    self.pending = faces.isEmpty ? nil : (picture.color, faces)
    guard let (estimate, face) = self.found else { return BackgroundDrawing.unsure }
    if let now = faces.first(where: { $0.id == face.id }) {
      self.box = now.rawBox
      self.seen = view.time.time
    } else if !faces.isEmpty {
      // A face other than the matte's: its own matte follows with the next job.
      self.seen = view.time.time
    }
    guard let seen, view.time.time - seen <= Self.holdTime else { return BackgroundDrawing.unsure }
    let moved = estimate.moved(
      from: face.rawBox, to: self.box ?? face.rawBox, width: picture.color.width,
      height: picture.color.height)
    return BackgroundDrawing.matte(self.smoothing.smooth(moved, of: picture.color))
  }

  mutating func takeJob() -> SceneJob? {
    guard self.framesSinceJob >= Self.interval, let (picture, faces) = self.pending,
      let face = faces.max(by: { $0.rawBox.size < $1.rawBox.size }),
      let source = self.idleSource()
    else { return nil }
    self.framesSinceJob = 0
    self.pending = nil
    self.source = nil
    self.jobGeneration = self.generation
    return SceneJob("portraitMatte") {
      var source = source
      let estimate = try await source.matte(of: picture, faces: faces.map { DetectedFace($0) })
      return Found(source: source, estimate: estimate, face: face)
    }
  }

  mutating func finish(_ result: Result<any Sendable, any Error>) {
    switch result {
    case .success(let value):
      guard let found = value as? Found else { return }
      guard self.jobGeneration == self.generation else { return }
      self.source = found.source
      guard found.estimate.isSure else { return }
      self.found = (found.estimate, found.face)
      self.box = found.face.rawBox
      self.seen = self.seen ?? .zero
      self.report.recover()
    case .failure(let error):
      self.report.fail(error)
    }
  }

  mutating func takeReport() -> [String: AnalysisValue]? { self.report.take() }

  /// The source, or a new one after a cut or a failure.
  private mutating func idleSource() -> (any MatteSource)? {
    if let source = self.source { return source }
    guard case .portrait(let make) = self.choice.kind else { return nil }
    do {
      return try make()
    } catch {
      self.report.fail(error)
      return nil
    }
  }
}

/// The report of a stage with a source of mattes.
struct MatteReport {
  var values: [String: AnalysisValue] = [:]
  private var error: String?

  /// Reports an error, once while it repeats.
  mutating func fail(_ error: any Error) {
    let message = "\(error)"
    guard message != self.error else { return }
    self.error = message
    self.values["matteError"] = .text(message)
  }

  /// Reports the end of an error.
  mutating func recover() {
    guard self.error != nil else { return }
    self.error = nil
    self.values["matteError"] = .text("")
  }

  /// Returns the values since the last call.
  mutating func take() -> [String: AnalysisValue]? {
    defer { self.values = [:] }
    return self.values.isEmpty ? nil : self.values
  }
}

extension MatteEstimate {
  /// The matte in a size, moved and scaled as a face has moved; the faces' positions are in that
  /// size. Values at the edges replace values beyond them.
  func moved(from: FaceBox, to: FaceBox, width: Int, height: Int) -> MatteEstimate {
    let estimate = self.resized(width: width, height: height)
    let scale = from.size / max(to.size, 1)
    let distance =
      abs(to.center.x - from.center.x) + abs(to.center.y - from.center.y)
      + abs(to.size - from.size)
    guard distance > 0.5 else { return estimate }
    let columns = (0 ..< width).map { x -> Int in
      let place = from.center.x + (Double(x) + 0.5 - to.center.x) * scale
      return Int(min(max(place, 0), Double(width - 1)))
    }
    var values: [Float] = []
    values.reserveCapacity(width * height)
    for y in 0 ..< height {
      let place = from.center.y + (Double(y) + 0.5 - to.center.y) * scale
      let row = Int(min(max(place, 0), Double(height - 1))) * width
      for column in columns { values.append(estimate.values[row + column]) }
    }
    return MatteEstimate(width: width, height: height, values: values, isSure: self.isSure)
  }
}
