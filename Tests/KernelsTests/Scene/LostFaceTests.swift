import SidelightKernels
import SidelightScene
import Testing

/// Ids of faces that are hidden for a while: neither searches nor optical flow see them.
@Suite struct `Lost faces` {
  typealias Face = SimulatedScene.Face

  static func face(_ x: Double, _ y: Double = 90, _ size: Double = 40, isHidden: Bool) -> Face {
    Face(
      box: FaceBox(center: PicturePoint(x: x, y: y), size: size), isDetectable: !isHidden,
      isFollowable: !isHidden)
  }

  /// The frame in which faces are hidden.
  static let start = 60

  /// Runs a scene and returns the ids of its last frame, by place from left to right, and the
  /// number of frames after which all faces are there again.
  static func run(
    hidden: Int, protects: Bool = false, seed: UInt64 = 1, count: Int = 1,
    _ faces: @escaping (_ frame: Int, _ isHidden: Bool) -> [Face?]
  ) -> (ids: [Int], tracks: Set<Int>, delay: Int) {
    let end = Self.start + hidden
    var scene = SimulatedScene(
      seed: seed, tracking: FaceTracker.Configuration(protects: protects)
    ) { faces($0, ($0 >= Self.start) && $0 < end) }
    var report = FaceReport(frame: SimulatedScene.time(0))
    var tracks: Set<Int> = []
    var delay = 0
    for frame in 0 ..< end + 60 {
      report = scene.step(frame)
      tracks.formUnion(report.faces.map(\.track))
      if frame == Self.start - 1 { #expect(report.faces.count == count) }
      if frame == end - 1, hidden > 20 { #expect(report.faces.isEmpty) }
      if frame >= end, report.faces.count < count { delay = frame - end + 1 }
    }
    let faces = report.faces.sorted { $0.box.center.x < $1.box.center.x }
    return (faces.map(\.id.value), tracks, delay)
  }

  @Test(arguments: [12, 20, 40, 60], [false, true])
  func `a face that is hidden for up to two seconds keeps its id`(_ hidden: Int, _ protects: Bool) {
    for seed in UInt64(1) ... 4 {
      let result = Self.run(hidden: hidden, protects: protects, seed: seed) { frame, isHidden in
        // It moves by half its width while it is hidden.
        [Self.face(150 + (frame < 80 ? 0 : 20), isHidden: isHidden)]
      }
      #expect(result.ids == [1], "\(result)")
      // It is on another track: privacy filters treat it as another face.
      #expect(result.tracks.count == 2, "\(result)")
    }
  }

  @Test func `a lost face is found within half a second after it appears`() {
    for hidden in [12, 20, 40] {
      let result = Self.run(hidden: hidden) { _, isHidden in [Self.face(150, isHidden: isHidden)] }
      #expect(result.delay <= 10, "\(result)")
    }
  }

  @Test(arguments: [false, true])
  func `a face that is hidden for longer has a new id`(_ protects: Bool) {
    let result = Self.run(hidden: 80, protects: protects) { _, isHidden in
      [Self.face(150, isHidden: isHidden)]
    }
    #expect(result.ids.count == 1 && result.ids != [1], "\(result)")
  }

  /// Three face widths further, which is only where it was if it moves on.
  @Test(arguments: [true, false])
  func `a face that walks behind a pillar is known where it comes out`(_ goesOn: Bool) {
    for seed in UInt64(1) ... 4 {
      let result = Self.run(hidden: 24, seed: seed) { frame, isHidden in
        let speed = frame < Self.start && !goesOn ? 0.0 : 5
        let x = 100 + speed * Double(max(0, frame - 50))
        return [Self.face(min(x, 240), isHidden: isHidden)]
      }
      #expect(result.ids.count == 1 && (result.ids == [1]) == goesOn, "\(result)")
    }
  }

  @Test(arguments: [24.0, 70])
  func `a face of another size, or at another place, has a new id`(_ size: Double) {
    let result = Self.run(hidden: 20) { frame, isHidden in
      [Self.face(150, 90, frame < 70 ? 40 : size, isHidden: isHidden)]
    }
    #expect(result.ids.count == 1 && result.ids != [1], "\(result)")
    let moved = Self.run(hidden: 20) { frame, isHidden in
      [Self.face(frame < 70 ? 150 : 210, isHidden: isHidden)]
    }
    #expect(moved.ids.count == 1 && moved.ids != [1], "\(moved)")
  }

  @Test(arguments: [false, true])
  func `two faces that may have changed places while hidden have new ids`(_ change: Bool) {
    for protects in [false, true] {
      let result = Self.run(hidden: 24, protects: protects, count: 2) { frame, isHidden in
        let (one, other) = change && frame >= 72 ? (220.0, 90.0) : (90.0, 220.0)
        return [Self.face(one, isHidden: isHidden), Self.face(other, isHidden: isHidden)]
      }
      #expect(result.ids.count == 2 && result.ids.allSatisfy { $0 > 2 }, "\(result)")
    }
  }

  @Test func `two faces that are too far apart to change places keep their ids`() {
    let result = Self.run(hidden: 20, count: 2) { _, isHidden in
      [Self.face(30, 60, 25, isHidden: isHidden), Self.face(290, 60, 25, isHidden: isHidden)]
    }
    #expect(result.ids == [1, 2], "\(result)")
  }

  @Test func `a face that is hidden next to a visible one keeps its id`() {
    var scene = SimulatedScene { frame in
      [Self.face(90, isHidden: (60 ..< 90).contains(frame)), Self.face(220, isHidden: false)]
    }
    for frame in 0 ..< 150 {
      let report = scene.step(frame)
      switch frame {
      case 59: #expect(report.faces.map(\.id) == [FaceID(1), FaceID(2)])
      case 89: #expect(report.faces.map(\.id) == [FaceID(2)])
      case 149:
        #expect(report.faces.map(\.id) == [FaceID(1), FaceID(2)])
        #expect(report.faces[0].box.center.x < 100)
      default: break
      }
    }
  }

  @Test func `a face that leaves the picture has a new id when it returns`() {
    let result = Self.run(hidden: 0) { frame, _ in
      let x = frame < Self.start ? 280.0 : frame < 66 ? 280 + 10 * Double(frame - 59) : 400
      return [Self.face(frame < 90 ? x : 290, isHidden: false)]
    }
    #expect(result.ids.count == 1 && result.ids != [1], "\(result)")
  }

  @Test func `only pipelines that do not protect look for lost faces`() {
    for protects in [false, true] {
      var driver = `The face tracker`.Driver(FaceTracker.Configuration(protects: protects))
      let face = `The face tracker`.detected(160, 90)
      while driver.step([face]).faces.isEmpty {}
      driver.flows = false
      while !driver.step([]).faces.isEmpty {}
      var frames: [Int] = []
      for frame in 0 ..< 90 {
        let plan = driver.advance()
        #expect(plan.looks.count <= 1)
        if let look = plan.looks.first {
          frames.append(frame)
          #expect(look.face == FaceID(1) && look.box.center == PicturePoint(x: 160, y: 90))
        }
        _ = driver.tracker.finish()
      }
      #expect(protects ? frames.isEmpty : frames.count == 19, "\(frames)")
      #expect(frames.allSatisfy { $0 < 60 })
    }
  }
}
