import SidelightKernels
import SidelightScene
import Testing

extension TrackedFace {
  /// A confirmed face for tests.
  static func sample(
    _ id: Int, track: Int? = nil,
    _ box: FaceBox = FaceBox(center: PicturePoint(x: 160, y: 90), size: 60),
    at frame: Int = 0, first: Int = 0, located: Int? = nil, age: Int = 0, missedLooks: Int = 0,
    isFollowed: Bool = true,
    displacement: PicturePoint = PicturePoint(x: 0, y: 0)
  ) -> TrackedFace {
    TrackedFace(
      id: FaceID(id), track: track ?? id, box: box, rawBox: box, confidence: 0.9,
      isConfirmed: true, isFollowed: isFollowed, firstDetection: SimulatedScene.time(first),
      locatedSince: SimulatedScene.time(located ?? first),
      lastDetection: SimulatedScene.time(max(0, frame - age)), age: age, missedLooks: missedLooks,
      displacement: displacement, speed: 0)
  }
}

/// Presence of faces over time.
@Suite struct `Attendance` {
  static func run(
    _ frames: Range<Int>, _ attendance: inout FaceAttendance, _ ids: (Double) -> [Int]
  ) -> [(seconds: Double, event: FaceAttendance.Event)] {
    frames.flatMap { frame in
      let seconds = Double(frame) / 10
      let faces = ids(seconds).map { TrackedFace.sample($0) }
      return attendance.add(faces, at: .milliseconds(100 * frame)).map { (seconds, $0) }
    }
  }

  @Test func `a face is present after one second and has left after two`() {
    var attendance = FaceAttendance()
    let events = Self.run(0 ..< 100, &attendance) { (1 ..< 4.05).contains($0) ? [1] : [] }
    #expect(events.map(\.seconds) == [2, 6])
    #expect(
      events.map(\.event) == [.present(FaceID(1)), .left(FaceID(1), present: .seconds(3))])
    #expect(attendance.facesSeen == 1)
    #expect(attendance.faces == 0)
  }

  @Test(arguments: [(0.9, 0), (1.05, 1)])
  func `a face that is seen for less than a second is not counted`(_ seconds: Double, _ seen: Int) {
    var attendance = FaceAttendance()
    let events = Self.run(0 ..< 60, &attendance) { $0 < seconds + 0.05 ? [1] : [] }
    #expect(attendance.facesSeen == seen)
    #expect(events.count == 2 * seen)
  }

  @Test(arguments: [(1.9, 1), (2.1, 2)])
  func `a gap of less than two seconds does not end a presence`(_ gap: Double, _ count: Int) {
    var attendance = FaceAttendance()
    let events = Self.run(0 ..< 100, &attendance) { seconds in
      seconds < 3.05 || seconds > 2.95 + gap ? [1] : []
    }
    #expect(events.count { if case .present = $0.event { true } else { false } } == count)
  }

  @Test func `a face that returns with its id goes on, also after it has left`() {
    var attendance = FaceAttendance()
    let events = Self.run(0 ..< 80, &attendance) { (3.05 ..< 5.55).contains($0) ? [] : [1] }
    #expect(
      events.map(\.event) == [
        .present(FaceID(1)), .left(FaceID(1), present: .seconds(3)), .present(FaceID(1)),
      ])
    #expect(attendance.facesSeen == 1)
    #expect(attendance.presences.map(\.duration) == [.milliseconds(7900)])
    #expect(!attendance.presences[0].hasLeft)
  }

  @Test func `several faces are counted independently`() {
    var attendance = FaceAttendance()
    _ = Self.run(0 ..< 50, &attendance) { $0 < 2.55 ? [1, 2] : [2] }
    #expect(attendance.faces == 1)
    #expect(attendance.facesSeen == 2)
    #expect(attendance.presences.map(\.id) == [FaceID(1), FaceID(2)])
    #expect(attendance.presences.map(\.duration) == [.milliseconds(2500), .milliseconds(4900)])
    #expect(attendance.presences.map(\.hasLeft) == [true, false])
  }

  @Test func `memory is bounded`() {
    var attendance = FaceAttendance()
    _ = Self.run(0 ..< 4000, &attendance) { [Int($0 / 1.5)] }
    #expect(attendance.facesSeen > 200)
    #expect(attendance.presences.count <= FaceAttendance.departedLimit + 3)
  }
}
