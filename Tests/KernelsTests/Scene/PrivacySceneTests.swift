import SidelightKernels
import SidelightScene
import Testing

/// The privacy rules on simulated scenes: the parts of faces that a viewer sees.
@Suite struct `Privacy in scenes` {
  typealias Face = SimulatedScene.Face

  static let width = 160
  static let height = 90

  static func box(_ x: Double, _ y: Double, _ size: Double, degrees: Double = 0) -> FaceBox {
    FaceBox(center: PicturePoint(x: x, y: y), size: size, roll: degrees * .pi / 180)
  }

  /// A person walks in from the right, rushes to the left, leans by 50 degrees, turns away, is in
  /// the dark with a hand before the face, and steps back. 30 frames per action.
  static func hardSequence(_ frame: Int) -> [Face?] {
    let t = Double(frame % 30) / 30
    switch frame {
    case ..<0: return [nil]
    case ..<30: return [Face(box: Self.box(176 - 46 * t, 45, 36))]
    case ..<60:
      // Up to 8 px per frame, a quarter of the face: 64 px at 1280.
      return [Face(box: Self.box(130 - 86 * t * t * (3 - 2 * t), 45, 36))]
    case ..<90:
      let lean = `Tracking accuracy`.sine(.pi * t)
      return [Face(box: Self.box(44 + 14 * lean, 45 + 4 * lean, 36, degrees: 50 * lean))]
    case ..<120:
      // In profile at both ends, and away between them.
      let isAway = (96 ..< 114).contains(frame)
      return [
        Face(
          box: Self.box(44, 45, 36), isVisible: !isAway, isDetectable: false,
          isFollowable: frame % 5 != 0)
      ]
    case ..<150:
      return [
        Face(
          box: Self.box(44 + 3 * t, 45, 36), isDetectable: frame % 4 == 0,
          isFollowable: frame % 7 != 0)
      ]
    default: return [Face(box: Self.box(47 + 20 * t, 45 - 6 * t, 36 - 16 * t))]
    }
  }

  /// A known person, and a second one who walks in behind from frame 60.
  static func secondPerson(_ frame: Int) -> [Face?] {
    let x = 180 - 2 * Double(frame - 60)
    return [
      Face(box: Self.box(36, 50, 30)),
      frame < 60 ? nil : Face(box: Self.box(max(x, 110), 40, 20)),
    ]
  }

  /// A picture of the faces: bright squares on a slope, with noise.
  static func picture(_ faces: [Face?], frame: Int) -> LumaPicture {
    var random = TestRandom(seed: UInt64(frame))
    var samples = (0 ..< Self.width * Self.height).map { index in
      UInt8(50 + index % Self.width / 4 + Int.random(in: 0 ... 6, using: &random))
    }
    for face in faces.compactMap({ $0 }) {
      let reach = face.box.size / 2
      let (x, y) = (face.box.center.x, face.box.center.y)
      for row in Int(y - reach) ..< Int(y + reach) where (0 ..< Self.height).contains(row) {
        for column in Int(x - reach) ..< Int(x + reach)
        where (0 ..< Self.width).contains(column) {
          samples[row * Self.width + column] += 100
        }
      }
    }
    return LumaPicture(width: Self.width, height: Self.height, samples: samples)
  }

  /// The part of a face within the picture that a coverage leaves visible, 0 to 1. The face is an
  /// ellipse of 0.45 and 0.55 of the box.
  static func exposure(_ face: Face, _ coverage: FaceCoverage) -> Double {
    guard face.isVisible, case .regions(let regions) = coverage else { return 0 }
    var (visible, count) = (0, 0)
    for step in 0 ..< 21 * 21 {
      let (u, v) = (Double(step % 21) / 10 - 1, Double(step / 21) / 10 - 1)
      guard u * u + v * v <= 1 else { continue }
      let point = face.box.point(u: 0.5 + 0.45 * u, v: 0.5 + 0.55 * v)
      guard (0 ..< Double(Self.width)).contains(point.x),
        (0 ..< Double(Self.height)).contains(point.y)
      else { continue }
      count += 1
      if !regions.contains(where: { $0.contains(point) }) { visible += 1 }
    }
    return count == 0 ? 0 : Double(visible) / Double(count)
  }

  struct Figures {
    var frames = 0
    var exposed = 0
    var whole = 0
    /// Frames that are not covered whole although a search has failed.
    var failing = 0
  }

  /// Runs a scene. Frames are exposed if more than 10 % of a face is visible.
  static func run(
    _ faces: @escaping (Int) -> [Face?], frames: Range<Int>, seed: UInt64 = 1,
    finder: @escaping (Int) -> SimulatedScene.Finder = { _ in .finds(1) }, latency: Int = 2,
    privacy configuration: FacePrivacy.Configuration = FacePrivacy.Configuration(),
    cover: ((FaceReport) -> FaceCoverage)? = nil
  ) -> Figures {
    var scene = SimulatedScene(
      width: Self.width, height: Self.height, seed: seed,
      tracking: FaceTracker.Configuration(protects: true), faces: faces)
    scene.finder = finder
    scene.latency = latency
    var privacy = FacePrivacy(configuration)
    var figures = Figures()
    for frame in frames {
      if privacy.needsSearch { scene.tracker.requestSearch() }
      let report = scene.step(frame)
      let truth = faces(frame)
      let decided = privacy.coverage(
        of: SimulatedScene.time(frame), picture: Self.picture(truth, frame: frame), faces: report)
      let coverage = cover?(report) ?? decided
      figures.frames += 1
      if coverage.isWhole { figures.whole += 1 }
      if truth.contains(where: { $0.map { Self.exposure($0, coverage) > 0.1 } ?? false }) {
        figures.exposed += 1
      }
      let isFailing = report.search.isFailing || report.hasFailedLook
      if isFailing, !coverage.isWhole { figures.failing += 1 }
    }
    return figures
  }

  @Test(arguments: [0, 2, 5])
  func `the hard sequence shows no face`(_ latency: Int) {
    var whole = 0
    for seed in UInt64(1) ... 6 {
      let figures = Self.run(Self.hardSequence, frames: 0 ..< 180, seed: seed, latency: latency)
      #expect(figures.exposed == 0, "\(figures)")
      #expect(figures.failing == 0)
      whole += figures.whole
    }
    // The rules do not simply cover every frame.
    #expect(whole < 6 * 180 * 2 / 3, "\(whole)")
  }

  @Test func `covering only what is tracked shows faces in the hard sequence`() {
    let tracked = { (report: FaceReport) in
      FaceCoverage.regions(
        report.faces.map { face in
          CoveredRegion(
            shape: .ellipse, center: face.rawBox.center, radiusX: 0.62 * face.rawBox.size,
            radiusY: 0.74 * face.rawBox.size, roll: face.rawBox.roll, cell: 6)
        })
    }
    let figures = Self.run(Self.hardSequence, frames: 0 ..< 180, cover: tracked)
    #expect(figures.exposed > 5, "\(figures)")
  }

  /// Finders that stop working, and a finder that finds half of the faces.
  @Test(arguments: ["never", "fails", "hangs", "half", "stops", "fails later", "hangs later"])
  func `a finder that fails shows no face`(_ kind: String) {
    let finder = { (frame: Int) -> SimulatedScene.Finder in
      switch kind {
      case "never": .finds(0)
      case "fails": .fails
      case "hangs": .hangs
      case "half": .finds(0.5)
      case "stops": .finds(frame < 40 ? 1 : 0)
      case "fails later": frame < 40 ? .finds(1) : .fails
      default: frame < 40 ? .finds(1) : .hangs
      }
    }
    for seed in UInt64(1) ... 4 {
      let figures = Self.run(Self.hardSequence, frames: 0 ..< 180, seed: seed, finder: finder)
      #expect(figures.exposed == 0, "\(figures)")
      #expect(figures.failing == 0, "\(figures)")
      if ["never", "fails", "hangs"].contains(kind) { #expect(figures.whole == 180) }
      if kind == "fails later" || kind == "hangs later" { #expect(figures.whole >= 140) }
    }
  }

  @Test(arguments: [0, 2, 5])
  func `a second person who walks in is covered before it is found`(_ latency: Int) {
    for seed in UInt64(1) ... 4 {
      let figures = Self.run(
        Self.secondPerson, frames: 0 ..< 180, seed: seed, latency: latency)
      #expect(figures.exposed == 0, "\(figures)")
      #expect(figures.whole < 60, "\(figures)")
    }
  }

  @Test func `without the rule of unsearched content a second person is shown`() {
    let known = { (report: FaceReport) in
      FaceCoverage.regions(
        (report.faces + report.candidates).map { face in
          CoveredRegion(
            shape: .ellipse, center: face.rawBox.center, radiusX: 0.7 * face.rawBox.size,
            radiusY: 0.8 * face.rawBox.size, roll: face.rawBox.roll, cell: 6)
        })
    }
    let figures = Self.run(Self.secondPerson, frames: 30 ..< 180, cover: known)
    #expect(figures.exposed > 3, "\(figures)")
  }

  @Test func `an empty room is shown after the release, and a person who enters it is covered`() {
    let faces = { (frame: Int) -> [Face?] in
      frame < 60 || frame > 300 ? [Face(box: Self.box(80, 45, 30))] : [nil]
    }
    let released = FacePrivacy.Configuration(release: .seconds(2))
    let figures = Self.run(faces, frames: 0 ..< 400, privacy: released)
    #expect(figures.exposed == 0, "\(figures)")
    #expect(figures.whole < 200, "\(figures)")
    let never = Self.run(faces, frames: 0 ..< 301)
    #expect(never.whole >= 235, "\(never)")
  }
}
