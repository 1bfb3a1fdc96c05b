import SidelightKernels
import SidelightScene
import Testing

/// The individual rules of privacy, with reports made by hand.
@Suite struct `Privacy rules` {
  /// A machine with frames of a picture that rests, and shows the faces of the reports.
  struct Driver {
    var privacy: FacePrivacy
    var frame = 0
    var picture = Pictures.rest
    /// Whether the picture shows no faces, as if something covered them.
    var hidesFaces = false

    init(_ configuration: FacePrivacy.Configuration = FacePrivacy.Configuration()) {
      self.privacy = FacePrivacy(configuration)
    }

    /// A frame in which full searches at all angles have just failed to find new faces.
    mutating func step(
      _ faces: [TrackedFace], change: (inout FaceReport) -> Void = { _ in }
    ) -> FaceCoverage {
      var report = FaceReport(frame: SimulatedScene.time(self.frame))
      report.faces = faces
      report.search.lastSuccess = report.frame
      report.search.emptySince = FaceTracker.searchAngles.map { [frame = report.frame] _ in frame }
      report.search.isStarted = true
      report.search.completed = `Unsearched content`.searches(self.frame)
      change(&report)
      defer { self.frame += 1 }
      return self.privacy.coverage(
        of: SimulatedScene.time(self.frame), picture: self.shown(report), faces: report)
    }

    /// The picture, with a bright square per face.
    private func shown(_ report: FaceReport) -> LumaPicture {
      guard !self.hidesFaces else { return self.picture }
      var samples = self.picture.samples
      for face in report.faces + report.candidates where face.rawBox.center.x.isFinite {
        let (x, y) = (Int(face.rawBox.center.x), Int(face.rawBox.center.y))
        for row in max(y - 8, 0) ..< min(y + 8, self.picture.height) {
          for column in max(x - 8, 0) ..< min(x + 8, self.picture.width) {
            let index = row * self.picture.width + column
            samples[index] = UInt8(min(255, Int(samples[index]) + 60))
          }
        }
      }
      return LumaPicture(
        width: self.picture.width, height: self.picture.height, samples: samples)
    }

    /// A face that was detected in this frame.
    func face(
      _ id: Int = 1, track: Int? = nil, x: Double = 80, first: Int = 0, located: Int? = nil,
      age: Int = 0, missedLooks: Int = 0,
      isFollowed: Bool = true, speed: Double = 0
    ) -> TrackedFace {
      .sample(
        id, track: track, FaceBox(center: PicturePoint(x: x, y: 45), size: 30), at: self.frame,
        first: first, located: located, age: age, missedLooks: missedLooks, isFollowed: isFollowed,
        displacement: PicturePoint(x: speed, y: 0))
    }

    /// A face with a search result that reaches its known state.
    mutating func know() {
      for _ in 0 ..< 3 { _ = self.step([self.face()]) }
    }
  }

  enum Pictures {
    static let rest = `Unsearched content`.picture()
    static let other = `Unsearched content`.picture(shift: 120)
  }

  static func reason(_ coverage: FaceCoverage) -> FaceCoverage.WholeFrameReason? {
    if case .whole(let reason) = coverage { reason } else { nil }
  }

  static func regions(_ coverage: FaceCoverage) throws -> [CoveredRegion] {
    guard case .regions(let regions) = coverage else { throw NotRegions() }
    return regions
  }

  struct NotRegions: Error {}

  @Test func `the whole frame is covered until a face is found`() {
    var driver = Driver()
    for _ in 0 ..< 300 { #expect(Self.reason(driver.step([])) == .searching) }
    #expect(Self.reason(driver.step([driver.face()])) == nil)
  }

  @Test func `a candidate, or a face from before the start, is no evidence`() {
    var driver = Driver()
    let candidate = driver.face()
    #expect(driver.step([], change: { $0.candidates = [candidate] }).isWhole)
    var late = Driver()
    late.frame = 50
    #expect(late.step([late.face(age: 3)]).isWhole)
    #expect(!late.step([late.face()]).isWhole)
  }

  @Test(arguments: [0.1, 0.24, 1], [1.0, 4])
  func `a known face is covered by an ellipse`(_ grow: Double, _ strength: Double) throws {
    var driver = Driver(FacePrivacy.Configuration(grow: grow, strength: strength))
    driver.know()
    let region = try Self.regions(driver.step([driver.face(missedLooks: 2, speed: 3)]))[0]
    #expect(region.shape == .ellipse)
    #expect(abs(region.radiusX - ((0.5 + grow / 2) * 30 * 1.2 + 3)) < 1e-9)
    #expect(abs(region.radiusY - ((0.5 + grow) * 30 * 1.2 + 3)) < 1e-9)
    #expect(30 / region.cell <= 6 + 1e-9)
    #expect(abs(30 / region.cell - 6 / strength) < 1e-9)
    #expect(region.center == PicturePoint(x: 80, y: 45))
  }

  @Test func `candidates are covered too`() throws {
    var driver = Driver()
    driver.know()
    let candidate = driver.face(2, x: 140)
    let coverage = driver.step([driver.face()], change: { $0.candidates = [candidate] })
    #expect(try Self.regions(coverage).map(\.center.x) == [80, 140])
  }

  @Test(arguments: [true, false])
  func `an unsure candidate covers the whole frame only if optical flow lost it`(
    _ isFollowed: Bool
  ) throws {
    var driver = Driver()
    driver.know()
    let found = driver.face(2, x: 140)
    _ = driver.step([driver.face()]) { $0.candidates = [found] }
    // The square at its place vanishes: the content changed since the candidate was detected.
    driver.hidesFaces = true
    let candidate = driver.face(2, x: 140, age: 1, missedLooks: 4, isFollowed: isFollowed)
    let coverage = driver.step([driver.face()]) { $0.candidates = [candidate] }
    guard isFollowed else {
      #expect(coverage == .whole(.faceUncertain))
      return
    }
    let cover = try #require(
      try Self.regions(coverage).first { $0.shape == .ellipse && $0.center.x == 140 })
    #expect(abs(cover.radiusX - FacePrivacy.heldGrowth * 1.4 * (0.5 + 0.12) * 30) < 1e-9)
  }

  /// Every doubt, and the same frame without it.
  @Test(arguments: [
    ("failing search", FaceCoverage.WholeFrameReason.searchFailed),
    ("failed look", .searchFailed), ("overdue search", .searchLate),
    ("no search", .searchLate), ("too many faces", .tooManyFaces), ("missed looks", .faceUncertain),
    ("no flow", .faceUncertain), ("old detection", .faceUncertain), ("other frame", .fault),
    ("search of a later frame", .searchLate), ("broken box", .fault), ("lost", .faceLost),
  ])
  func `every doubt covers the whole frame`(
    _ doubt: String, _ reason: FaceCoverage.WholeFrameReason
  ) {
    for isDoubtful in [true, false] {
      var driver = Driver()
      driver.know()
      driver.frame = 25
      var faces = [driver.face()]
      if isDoubtful {
        driver.hidesFaces = ["missed looks", "no flow", "old detection"].contains(doubt)
        switch doubt {
        case "missed looks": faces = [driver.face(age: 12, missedLooks: 4)]
        case "no flow": faces = [driver.face(age: 1, isFollowed: false)]
        case "old detection": faces = [driver.face(age: 16)]
        case "broken box": faces = [driver.face(x: .nan)]
        case "lost": faces = []
        default: break
        }
      }
      let coverage = driver.step(faces) { report in
        guard isDoubtful else { return }
        switch doubt {
        case "failing search": report.search.isFailing = true
        case "failed look": report.hasFailedLook = true
        case "overdue search":
          report.search.lastSuccess = SceneTime(index: 0, time: .milliseconds(-200))
        case "no search": report.search.lastSuccess = nil
        case "too many faces": report.isFull = true
        case "other frame": report.frame.index -= 1
        case "search of a later frame": report.search.lastSuccess?.index += 5
        default: break
        }
      }
      #expect(Self.reason(coverage) == (isDoubtful ? reason : nil))
    }
  }

  @Test func `faults cover the whole frame until a face is detected again`() {
    for fault in 0 ..< 3 {
      var driver = Driver()
      driver.know()
      let frame = SimulatedScene.time(fault == 2 ? 0 : driver.frame)
      var report = FaceReport(frame: frame)
      report.faces = [driver.face()]
      report.search.lastSuccess = frame
      let coverage = driver.privacy.coverage(
        of: frame, picture: fault == 0 ? nil : driver.picture,
        faces: fault == 1 ? nil : report)
      #expect(Self.reason(coverage) == .fault)
      driver.frame += 1
      #expect(driver.privacy.needsSearch)
      #expect(driver.step([driver.face(age: 5)]).isWhole)
      #expect(!driver.step([driver.face()]).isWhole)
      #expect(!driver.privacy.needsSearch)
    }
  }

  @Test func `a cut, another size and a gap cover the whole frame until a face is found`() {
    for event in 0 ..< 4 {
      var driver = Driver()
      driver.know()
      switch event {
      case 0: driver.picture = Pictures.other
      case 1: driver.picture = `Unsearched content`.picture(width: 90, height: 160)
      case 2: driver.frame += 40
      default: driver.frame += 20
      }
      let old = driver.face(age: 1)
      #expect(driver.step([old]).isWhole == (event < 3))
      #expect(driver.step([driver.face(age: 2)]).isWhole == (event < 3))
      #expect(!driver.step([driver.face()]).isWhole)
    }
  }

  @Test func `a lost face covers the whole frame until one is found there`() {
    var driver = Driver()
    driver.know()
    for _ in 0 ..< 100 { #expect(Self.reason(driver.step([])) == .faceLost) }
    // A face that was known before is another person.
    #expect(!driver.step([driver.face(2, first: 90)]).isWhole)
    var two = Driver()
    for _ in 0 ..< 3 { _ = two.step([two.face(1), two.face(2, x: 140)]) }
    for _ in 0 ..< 100 { #expect(two.step([two.face(2, x: 140)]).isWhole) }
    #expect(!two.step([two.face(2, x: 140), two.face(3, first: two.frame)]).isWhole)
  }

  @Test(arguments: FacePrivacy.WhenUnsure.allCases)
  func `a lost or unsure face whose place shows what it showed is covered where it is`(
    _ whenUnsure: FacePrivacy.WhenUnsure
  ) throws {
    var driver = Driver(FacePrivacy.Configuration(whenUnsure: whenUnsure))
    driver.picture = `Unsearched content`.picture(square: (65, 30, 30))
    driver.hidesFaces = true
    driver.know()
    let unsure = try Self.regions(driver.step([driver.face(age: 12, missedLooks: 9)]))
    #expect(unsure.map(\.center.x) == [80])
    var radii: Set<Double> = []
    for _ in 0 ..< 100 {
      let regions = try Self.regions(driver.step([]))
      #expect(regions.map(\.center.x) == [80])
      radii.insert(regions[0].radiusX)
    }
    #expect(radii.count == 1)
    #expect(!driver.privacy.needsSearch)
    // Something changes there: the face may be elsewhere, also when it shows the same again.
    let picture = driver.picture
    for changed in [`Unsearched content`.picture(), picture] {
      driver.picture = changed
      #expect(driver.step([]).isWhole == (whenUnsure == .frame))
    }
    let needsSearch = driver.privacy.needsSearch
    #expect(needsSearch)
  }

  @Test func `the place of a lost face moves with the camera`() throws {
    var driver = Driver()
    driver.hidesFaces = true
    driver.know()
    for step in 1 ... 10 {
      driver.picture = `Unsearched content`.picture(shift: step)
      let cells = PictureCells(width: 160, height: 90)
      let coverage = driver.step([]) { [picture = driver.picture] report in
        report.motion = ContentMotion(
          from: report.frame.index - 1,
          offsets: Array(repeating: SIMD2(-2, 1), count: cells.count),
          levels: cells.means(of: picture))
      }
      let center = try Self.regions(coverage)[0].center
      #expect(center == PicturePoint(x: 80 + 2 * Double(step), y: 45 - Double(step)))
    }
  }

  /// Searches of a frame, of which those at one angle found a new face or did not run.
  static func unverified(_ angle: Int, _ frame: Int?) -> (inout FaceReport) -> Void {
    { report in report.search.emptySince[angle] = frame.map(SimulatedScene.time) }
  }

  @Test(arguments: 0 ..< 3)
  func `at the start, a found face is no evidence until each angle was searched since`(
    _ angle: Int
  ) {
    var driver = Driver()
    for _ in 0 ..< 10 {
      let face = driver.face()
      #expect(
        Self.reason(driver.step([face], change: Self.unverified(angle, nil))) == .searching)
    }
    // The face was located again in frame 5.
    let face = driver.face(located: 5)
    #expect(driver.step([face], change: Self.unverified(angle, 4)).isWhole)
    #expect(!driver.step([driver.face(located: 5)], change: Self.unverified(angle, 5)).isWhole)
  }

  @Test(arguments: 0 ..< 3)
  func `a face that flow lost and a look found is lost until each angle was searched since`(
    _ angle: Int
  ) throws {
    for unsure in FacePrivacy.WhenUnsure.allCases {
      var driver = Driver(FacePrivacy.Configuration(whenUnsure: unsure))
      driver.know()
      let found = driver.frame
      for _ in 0 ..< 10 {
        let face = driver.face(x: 130, located: found)
        let coverage = driver.step([face], change: Self.unverified(angle, found - 1))
        switch unsure {
        case .frame: #expect(Self.reason(coverage) == .faceLost)
        // Both places, since either may be the face.
        case .hold: #expect(try Self.regions(coverage).map(\.center.x) == [130, 80])
        }
      }
      let verified = driver.step(
        [driver.face(x: 130, located: found)], change: Self.unverified(angle, found))
      #expect(try Self.regions(verified).map(\.center.x) == [130])
    }
  }

  @Test func `a place stays held while the face that appeared there is lost before it is verified`()
  {
    var driver = Driver()
    driver.know()
    _ = driver.step([])
    let second = driver.frame
    #expect(
      driver.step([driver.face(2, first: second)], change: Self.unverified(0, nil)).isWhole)
    for _ in 0 ..< 10 { #expect(driver.step([]).isWhole) }
    // The third ends both.
    let third = driver.frame
    #expect(driver.step([driver.face(3, first: third)], change: Self.unverified(0, nil)).isWhole)
    #expect(!driver.step([driver.face(3, first: third)]).isWhole)
  }

  @Test func `a face that is found far away does not release a place at once`() {
    var driver = Driver()
    driver.know()
    _ = driver.step([])
    #expect(driver.step([driver.face(2, x: 150, first: driver.frame)]).isWhole)
  }

  @Test func `a lost face that returns with its id is another one to the rules`() {
    // It does not release a place in which it is not.
    var driver = Driver()
    driver.know()
    _ = driver.step([])
    let far = driver.face(1, track: 2, x: 150, first: driver.frame)
    #expect(Self.reason(driver.step([far])) == .faceLost)
    // Nor if it was known before the lost one was last seen.
    var early = Driver()
    early.know()
    _ = early.step([])
    #expect(Self.reason(early.step([early.face(1, track: 2, first: 1)])) == .faceLost)
    let near = driver.face(1, track: 3, first: driver.frame)
    #expect(!driver.step([far, near]).isWhole)
  }

  @Test func `with hold, a cover grows on when a candidate gets the id of a lost face`() throws {
    var driver = Driver(FacePrivacy.Configuration(whenUnsure: .hold))
    for _ in 0 ..< 3 { _ = driver.step([driver.face(), driver.face(2, x: 20)]) }
    let other = { (driver: Driver) in driver.face(2, x: 20) }
    var radius = 0.0
    for frame in 0 ..< 5 {
      driver.hidesFaces = frame % 2 == 0
      let candidate = driver.face(7, x: 140, age: 1, isFollowed: false)
      let coverage = driver.step([driver.face(), other(driver)]) { $0.candidates = [candidate] }
      radius = try #require(Self.regions(coverage).last).radiusX
    }
    driver.hidesFaces = false
    let named = driver.face(3, track: 7, x: 140, age: 1, isFollowed: false)
    let coverage = driver.step([driver.face(), other(driver), named])
    let grown = try #require(Self.regions(coverage).first { $0.center.x == 140 })
    #expect(abs(grown.radiusX / radius - 1.04) < 1e-9)
  }

  @Test func `with hold, a lost face is covered and grows, and faults cover the frame still`()
    throws
  {
    var driver = Driver(FacePrivacy.Configuration(whenUnsure: .hold))
    #expect(driver.step([]).isWhole)
    driver.know()
    driver.hidesFaces = true
    var last = try Self.regions(driver.step([driver.face(age: 12, missedLooks: 4)]))[0]
    for _ in 0 ..< 5 {
      let next = try Self.regions(driver.step([driver.face(age: 12, missedLooks: 4)]))[0]
      #expect(abs(next.radiusX / last.radiusX - 1.04) < 1e-9)
      last = next
    }
    for _ in 0 ..< 30 {
      let next = try Self.regions(driver.step([]))[0]
      #expect(abs(next.radiusX / last.radiusX - 1.04) < 1e-9)
      last = next
    }
    #expect(driver.step([], change: { $0.search.isFailing = true }).isWhole)
  }

  @Test(arguments: [true, false])
  func `release shows an empty room after its time, not before`(_ hadFace: Bool) {
    var driver = Driver(FacePrivacy.Configuration(release: .seconds(2)))
    if hadFace { driver.know() }
    let start = driver.frame
    for frame in 0 ..< 60 {
      #expect(driver.step([]).isWhole, "\(frame)")
    }
    _ = driver.step([])
    #expect(driver.step([]) == .regions([]), "\(start)")
  }

  @Test func `release counts from the last loss of a face`() {
    var driver = Driver(FacePrivacy.Configuration(release: .seconds(2)))
    driver.know()
    for _ in 0 ..< 40 { #expect(driver.step([]).isWhole) }
    // Another face appears there, and is lost before it is verified.
    let second = driver.face(2, first: driver.frame)
    #expect(driver.step([second], change: Self.unverified(0, nil)).isWhole)
    for frame in 0 ..< 60 { #expect(driver.step([]).isWhole, "\(frame)") }
    _ = driver.step([])
    #expect(driver.step([]) == .regions([]))
  }

  @Test func `release waits for all angles, and for motion to end`() {
    var driver = Driver(FacePrivacy.Configuration(release: .seconds(2)))
    driver.know()
    for _ in 0 ..< 200 {
      let coverage = driver.step([]) { report in
        report.search.emptySince[2] = nil
      }
      #expect(coverage.isWhole)
    }
    var moving = Driver(FacePrivacy.Configuration(release: .seconds(2)))
    moving.know()
    for frame in 0 ..< 100 {
      moving.picture = `Unsearched content`.picture(square: (68 + frame % 8, 36, 20))
      #expect(moving.step([]).isWhole)
    }
    // The same motion elsewhere does not delay it.
    var elsewhere = Driver(FacePrivacy.Configuration(release: .seconds(2)))
    elsewhere.know()
    var last = FaceCoverage.regions([])
    for frame in 0 ..< 100 {
      elsewhere.picture = `Unsearched content`.picture(square: (8 + frame % 8, 36, 20))
      last = elsewhere.step([])
    }
    #expect(!last.isWhole)
  }

  @Test func `what changes is covered until it was searched at each angle`() throws {
    var driver = Driver()
    driver.know()
    func step(_ searched: [FullSearch] = []) throws -> [CoveredRegion] {
      let face = driver.face()
      return try Self.regions(driver.step([face]) { $0.search.completed = searched })
    }
    #expect(try step().count == 1)
    #expect(!driver.privacy.needsSearch)
    driver.picture = `Unsearched content`.picture(square: (120, 30, 24))
    let start = driver.frame
    let places = try step().dropFirst()
    #expect(driver.privacy.needsSearch)
    #expect(places.allSatisfy { $0.shape == .rectangle })
    for (x, y) in [(121.0, 31.0), (143, 31), (121, 53), (143, 53)] {
      #expect(places.contains { $0.contains(PicturePoint(x: x, y: y)) })
    }
    for _ in 0 ..< 20 { #expect(try step().count > 1) }
    let early = [(start - 1, 0), (start, 1), (start, 2)]
    #expect(try step(early.map { `Unsearched content`.search($0.0, angle: $0.1) }).count > 1)
    #expect(try step([`Unsearched content`.search(start + 6, angle: 0)]).count == 1)
    #expect(!driver.privacy.needsSearch)
  }

  @Test(arguments: [(36, false), (36, true), (68, false), (68, true)])
  func `the whole frame is covered while a large part of it changes, and the reason says why`(
    _ side: Int, _ isCamera: Bool
  ) throws {
    var driver = Driver()
    driver.know()
    driver.picture = `Unsearched content`.picture(square: (80, 10, side))
    let face = driver.face()
    let coverage = driver.step([face]) { report in
      report.search.completed = []
      guard isCamera else { return }
      let cells = PictureCells(width: 160, height: 90)
      report.motion = ContentMotion(
        from: report.frame.index - 1,
        offsets: Array(repeating: SIMD2(3, 0), count: cells.count),
        levels: cells.means(of: Pictures.rest))
    }
    let reason = isCamera ? FaceCoverage.WholeFrameReason.cameraMoves : .regionsMove
    #expect(side < 40 ? !coverage.isWhole : coverage == .whole(reason), "\(coverage)")
  }

  @Test func `settings beyond their ranges are clamped towards covering`() {
    let wrong = FacePrivacy.Configuration(
      grow: .nan, strength: .infinity, release: .zero, lookInterval: -3)
    #expect(wrong == FacePrivacy.Configuration(grow: 1, strength: 4, lookInterval: 1))
    #expect(FaceCoverage.wholeFrameSigma(height: 720) == 40)
    #expect(FaceCoverage.wholeFrameSigma(height: 720, strength: 2) == 80)
  }
}
