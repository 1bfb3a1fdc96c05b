import SidelightKernels
import SidelightScene
import Testing

/// Decisions of the tracker: which faces are reported, and which searches run.
@Suite struct `The face tracker` {
  static func detected(_ x: Double, _ y: Double, _ size: Double = 60) -> DetectedFace {
    DetectedFace(center: PicturePoint(x: x, y: y), size: size, confidence: 0.9)
  }

  /// A tracker driven by hand: flow that rests, or fails.
  struct Driver {
    var tracker: FaceTracker
    var frame = 0
    var flows = true
    /// The time between frames.
    var interval: Duration

    init(
      _ configuration: FaceTracker.Configuration = FaceTracker.Configuration(),
      interval: Duration = .seconds(1) / 30
    ) {
      self.interval = interval
      self.tracker = FaceTracker(configuration, width: 320, height: 180)
    }

    mutating func advance() -> SearchPlan {
      let targets = self.tracker.followTargets
      let flow: [FaceID: SimilarityTransform] =
        self.flows ? Dictionary(uniqueKeysWithValues: targets.map { ($0.face, .identity) }) : [:]
      defer { self.frame += 1 }
      let time = SceneTime(index: UInt64(self.frame), time: self.interval * self.frame)
      return self.tracker.advance(to: time, flow: flow)
    }

    /// Runs a frame in which every search that is due has this result.
    mutating func step(_ outcome: SearchOutcome) -> FaceReport {
      let plan = self.advance()
      for look in plan.looks { self.tracker.record(FaceTracker.LocalSearchResult(look, outcome)) }
      if let search = plan.fullSearch {
        self.tracker.record(FaceTracker.SearchResult(search, outcome))
      }
      return self.tracker.finish()
    }

    mutating func step(_ faces: [DetectedFace]) -> FaceReport { self.step(.found(faces)) }
  }

  @Test(arguments: [33, 450])
  func `a face is reported after two detections`(milliseconds: Int) {
    var driver = Driver(interval: .milliseconds(milliseconds))
    let face = Self.detected(160, 90)
    #expect(driver.step([face]).faces.isEmpty)
    var frames = 1
    while driver.step([face]).faces.isEmpty { frames += 1 }
    #expect(frames == 3)
  }

  @Test(arguments: [33, 450, 3000])
  func `a candidate that is found late stays until looks have missed it`(milliseconds: Int) throws {
    var driver = Driver(.init(protects: true), interval: .milliseconds(milliseconds))
    let search = try #require(driver.advance().fullSearch)
    for _ in 0 ..< 3 {
      _ = driver.tracker.finish()
      _ = driver.advance()
    }
    driver.tracker.record(FaceTracker.SearchResult(search, .found([Self.detected(160, 90)])))
    #expect(driver.tracker.finish().candidates.count == 1)
    var looks = 0
    while looks < FaceTracker.missedLookLimit, driver.frame < 100 {
      let plan = driver.advance()
      looks += plan.looks.count
      for look in plan.looks {
        driver.tracker.record(FaceTracker.LocalSearchResult(look, .found([])))
      }
      let isLast = looks == FaceTracker.missedLookLimit
      #expect(driver.tracker.finish().candidates.count == (isLast ? 0 : 1))
    }
    #expect(looks == FaceTracker.missedLookLimit)
  }

  @Test func `a detection that is not repeated within a second is never reported`() {
    var driver = Driver()
    #expect(driver.step([Self.detected(160, 90)]).candidates.count == 1)
    var last = FaceReport(frame: SimulatedScene.time(0))
    for _ in 0 ..< 40 {
      last = driver.step([])
      #expect(last.faces.isEmpty)
    }
    #expect(last.candidates.isEmpty)
    // A detection after that is a first one again, with a new id.
    var report = driver.step([Self.detected(160, 90)])
    while report.candidates.isEmpty { report = driver.step([Self.detected(160, 90)]) }
    #expect(report.faces.isEmpty)
    #expect(report.candidates[0].id == FaceID(2))
  }

  @Test(arguments: [(false, true, 54), (true, true, 27), (false, false, 9)])
  func `a face is dropped after nine missed looks`(
    _ protects: Bool, _ flows: Bool, _ frames: Int
  ) {
    var driver = Driver(FaceTracker.Configuration(protects: protects))
    let face = Self.detected(160, 90)
    while driver.step([face]).faces.isEmpty {}
    // Until a look at the confirmed face, from which intervals count.
    while driver.step([face]).faces[0].age > 0 {}
    driver.flows = flows
    var count = 0
    while !driver.step([]).faces.isEmpty { count += 1 }
    #expect(abs(count + 1 - frames) <= 5)
  }

  @Test func `ids are never used again`() {
    var driver = Driver()
    var ids: [FaceID] = []
    for round in 0 ..< 6 {
      let face = Self.detected(100 + 20 * Double(round % 2), 90)
      var report = driver.step([face])
      while report.faces.isEmpty { report = driver.step([face]) }
      ids.append(report.faces[0].id)
      if round == 3 {
        driver.tracker.reset(width: 320, height: 180)
      } else {
        while !driver.step([]).faces.isEmpty {}
        // A face that returns within two seconds has its id again.
        for _ in 0 ..< 60 { _ = driver.step([]) }
      }
    }
    #expect(Set(ids).count == ids.count)
    #expect(ids == ids.sorted())
  }

  @Test func `full searches run at three angles in turn`() {
    var driver = Driver()
    var frames: [Int] = []
    var angles: [Double] = []
    for frame in 0 ..< 36 {
      let plan = driver.advance()
      if let search = plan.fullSearch {
        frames.append(frame)
        angles.append((search.angle * 180 / .pi).rounded())
        #expect(search.minimumSize == 0.125 * 180)
        driver.tracker.record(FaceTracker.SearchResult(search, .found([])))
      }
      _ = driver.tracker.finish()
    }
    #expect(frames == [0, 6, 12, 18, 24, 30])
    #expect(angles == [0, -25, 25, 0, -25, 25])
  }

  @Test(arguments: [(false, 15, 6), (true, 6, 3)])
  func `searches of a known face follow their intervals`(
    _ protects: Bool, _ fullInterval: Int, _ lookInterval: Int
  ) {
    var driver = Driver(FaceTracker.Configuration(protects: protects))
    let face = Self.detected(160, 90)
    while driver.step([face]).faces.isEmpty {}
    var (full, looks): ([Int], [Int]) = ([], [])
    for frame in 0 ..< 90 {
      let plan = driver.advance()
      if let search = plan.fullSearch {
        full.append(frame)
        driver.tracker.record(FaceTracker.SearchResult(search, .found([face])))
      }
      for look in plan.looks {
        looks.append(frame)
        #expect(abs(look.windowSide - 2.2 * 60) < 1e-9)
        #expect(abs(look.sizes.lowerBound - 36) < 1e-9 && abs(look.sizes.upperBound - 90) < 1e-9)
        driver.tracker.record(FaceTracker.LocalSearchResult(look, .found([face])))
      }
      _ = driver.tracker.finish()
    }
    #expect(Set(zip(full, full.dropFirst()).map { $1 - $0 }) == [fullInterval])
    #expect(Set(zip(looks, looks.dropFirst()).map { $1 - $0 }) == [lookInterval])
  }

  @Test func `a protecting tracker searches in each frame until a face is known`() {
    var driver = Driver(FaceTracker.Configuration(protects: true))
    for _ in 0 ..< 10 {
      let search = driver.advance().fullSearch
      #expect(search != nil)
      search.map { driver.tracker.record(FaceTracker.SearchResult($0, .found([]))) }
      _ = driver.tracker.finish()
    }
  }

  @Test func `one full search is under way at a time, and one that hangs is given up`() {
    var driver = Driver(FaceTracker.Configuration(protects: true))
    #expect(driver.advance().fullSearch != nil)
    var waiting = 0
    var report = driver.tracker.finish()
    while driver.advance().fullSearch == nil {
      report = driver.tracker.finish()
      waiting += 1
      #expect(waiting < 100)
    }
    #expect(waiting == 60)
    report = driver.tracker.finish()
    #expect(report.search.isFailing)
  }

  @Test func `a detection pulls a followed face by 35 percent, and a lost one all the way`() {
    for flows in [true, false] {
      var driver = Driver()
      while driver.step([Self.detected(160, 90)]).faces.isEmpty {}
      driver.flows = flows
      var report = driver.step([Self.detected(170, 90)])
      while report.faces[0].age > 0 { report = driver.step([Self.detected(170, 90)]) }
      #expect(abs(report.faces[0].rawBox.center.x - (flows ? 163.5 : 170)) < 1e-9)
    }
  }

  @Test func `an angle within the finder's tolerance is left as it is`() {
    func roll(_ degrees: Double) -> Double {
      var driver = Driver()
      var face = Self.detected(160, 90)
      while driver.step([face]).faces.isEmpty {}
      face.roll = degrees * .pi / 180
      face.rollTolerance = 20 * .pi / 180
      var report = driver.step([face])
      while report.faces[0].age > 0 { report = driver.step([face]) }
      return report.faces[0].rawBox.roll * 180 / .pi
    }
    #expect(roll(19) == 0)
    #expect(abs(roll(30) - 3.5) < 1e-9)
    #expect(abs(roll(-30) + 3.5) < 1e-9)
  }

  /// The face moves 3 px per frame. A result that is not carried forward would pull it back.
  @Test(arguments: [0, 1, 5, 12])
  func `a result for an earlier frame is carried to the current one`(_ age: Int) throws {
    var driver = Driver()
    var x = 60.0
    while driver.step([Self.detected(x, 90)]).faces.isEmpty {}
    var places: [Double] = []
    var search: FullSearch?
    var frames: [UInt64] = []
    for _ in 0 ... age {
      x += 3
      let flow = SimilarityTransform(a: 1, b: 0, tx: 3, ty: 0)
      let targets = driver.tracker.followTargets
      let plan = driver.tracker.advance(
        to: SimulatedScene.time(driver.frame),
        flow: Dictionary(uniqueKeysWithValues: targets.map { ($0.face, flow) }))
      places.append(x)
      frames.append(UInt64(driver.frame))
      search = plan.fullSearch ?? search
      driver.frame += 1
      if driver.frame <= Int(frames[0]) + age { _ = driver.tracker.finish() }
    }
    let result = FullSearch(frame: frames[0], angle: 0, minimumSize: 20)
    driver.tracker.record(
      FaceTracker.SearchResult(
        result,
        .found([
          Self.detected(places[0] + 10, 90),
          Self.detected(250, 90, 40),
        ])))
    let report = driver.tracker.finish()
    let face = try #require(report.faces.first)
    #expect(abs(face.rawBox.center.x - (x + 3.5)) < 1e-6)
    #expect(face.age == age)
    // A new face is known where it was; the caller follows it from there.
    let target = try #require(driver.tracker.followTargets.last)
    #expect(target.frame == frames[0] && target.box.center.x == 250)
  }

  /// A tracker that has followed a face up to frame `first`, and lost it in the next one.
  static func losing(after first: Int) -> Driver {
    var driver = Driver(FaceTracker.Configuration(protects: true))
    for _ in 0 ... first { _ = driver.step([Self.detected(100, 90)]) }
    driver.flows = false
    _ = driver.advance()
    return driver
  }

  @Test func `a place that a look found is not replaced by the result of an earlier search`() throws
  {
    var driver = Self.losing(after: 6)
    // More than half a face from the last place.
    let look = LocalLook(face: FaceID(1), box: driver.tracker.followTargets[0].box)
    driver.tracker.record(FaceTracker.LocalSearchResult(look, .found([Self.detected(140, 90)])))
    let found = try #require(driver.tracker.finish().faces.first)
    #expect(found.rawBox.center.x == 140)
    #expect(found.locatedSince.index == 7)
    let search = FullSearch(frame: 6, angle: 0, minimumSize: 20)
    driver.tracker.record(FaceTracker.SearchResult(search, .found([Self.detected(100, 90)])))
    driver.flows = true
    _ = driver.advance()
    let report = driver.tracker.finish()
    let face = try #require(report.faces.first)
    #expect(report.faces.count == 1 && report.candidates.isEmpty)
    #expect(face.rawBox.center.x == 140)
    #expect(face.locatedSince.index == 7)
  }

  @Test func `a lost face is followed from the frame whose search finds it`() throws {
    var driver = Self.losing(after: 6)
    _ = driver.tracker.finish()
    _ = driver.advance()
    #expect(driver.tracker.finish().faces.map(\.isFollowed) == [false])
    let search = FullSearch(frame: 7, angle: 0, minimumSize: 20)
    driver.tracker.record(FaceTracker.SearchResult(search, .found([Self.detected(130, 90)])))
    let target = try #require(driver.tracker.followTargets.first)
    #expect(target.frame == 7 && target.box.center.x == 130)
    driver.flows = true
    _ = driver.advance()
    let face = try #require(driver.tracker.finish().faces.first)
    #expect(face.isFollowed && face.id == FaceID(1))
    #expect(face.locatedSince.index == 7)
  }

  @Test func `two faces keep their ids when they meet, and a double detection is one face`() {
    var driver = Driver()
    let double = [
      Self.detected(100, 90), Self.detected(104, 92, 55), Self.detected(100, 105, 20),
      Self.detected(200, 90),
    ]
    for _ in 0 ..< 40 {
      let report = driver.step(double)
      #expect(report.faces.count + report.candidates.count == 2)
    }
  }

  @Test func `faces beyond the limit are counted as too many`() {
    var driver = Driver(FaceTracker.Configuration(maxFaces: 2))
    let report = driver.step([
      Self.detected(50, 90, 40), Self.detected(150, 90, 50), Self.detected(250, 90, 60),
    ])
    #expect(report.isFull)
    #expect(report.candidates.map(\.rawBox.size) == [60, 50])
    var enough = Driver(FaceTracker.Configuration(maxFaces: 3))
    #expect(!enough.step([Self.detected(50, 90), Self.detected(150, 90)]).isFull)
  }

  @Test func `detections that cannot be faces are ignored`() {
    var driver = Driver()
    let wrong = [
      DetectedFace(center: PicturePoint(x: .nan, y: 3), size: 20),
      DetectedFace(center: PicturePoint(x: 10, y: 3), size: .infinity),
      DetectedFace(center: PicturePoint(x: 10, y: 3), size: -4),
      DetectedFace(center: PicturePoint(x: 10, y: 3), size: 20, roll: .nan),
      DetectedFace(center: PicturePoint(x: 1e9, y: 3), size: 20),
      DetectedFace(center: PicturePoint(x: 10, y: 3), size: 1e5),
    ]
    let report = driver.step(wrong)
    #expect(report.candidates.isEmpty)
    var sure = Self.detected(160, 90)
    sure.confidence = .nan
    #expect(driver.tracker.followTargets.isEmpty)
    while driver.step([sure]).faces.isEmpty {}
  }

  @Test func `frames that do not advance are ignored`() {
    var driver = Driver()
    _ = driver.step([Self.detected(160, 90)])
    let before = driver.tracker.finish()
    let plan = driver.tracker.advance(to: SimulatedScene.time(0), flow: [:])
    #expect(plan == SearchPlan())
    #expect(driver.tracker.finish().frame == before.frame)
  }

  @Test func `flow over a long gap, or that changes the size too much, is not believed`() {
    for (movement, gap, isFollowed) in [
      (SimilarityTransform.identity, 1, true), (.identity, 30, false),
      (SimilarityTransform(a: 2.1, b: 0, tx: -160, ty: -90), 1, false),
      (SimilarityTransform(a: .nan, b: 0, tx: 0, ty: 0), 1, false),
    ] {
      var driver = Driver()
      var report = driver.step([Self.detected(160, 90)])
      while report.faces.isEmpty { report = driver.step([Self.detected(160, 90)]) }
      driver.frame += gap - 1
      _ = driver.tracker.advance(
        to: SimulatedScene.time(driver.frame), flow: [report.faces[0].id: movement])
      let face = driver.tracker.finish().faces[0]
      #expect(face.isFollowed == isFollowed)
      #expect(face.rawBox.center == PicturePoint(x: 160, y: 90))
    }
  }
}
