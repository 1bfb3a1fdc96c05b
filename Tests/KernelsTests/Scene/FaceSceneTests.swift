import SidelightKernels
import SidelightScene
import Synchronization
import Testing

/// The scene with a finder and an optical flow that know the truth. The first sample of a picture
/// is its frame number.
@Suite struct `The scene of a stream` {
  struct Broken: Error {}

  /// The places of the faces by frame.
  typealias Truth = @Sendable (Int) -> [FaceBox]

  final class Log: Sendable {
    let searches = Mutex<[(frame: Int, search: FaceSearch)]>([])
  }

  /// Finds the faces of the truth, or throws.
  struct Finder: FaceFinder {
    let truth: Truth
    var fails: @Sendable (Int) -> Bool = { _ in false }
    var log: Log?

    func faces(in picture: LumaPicture) throws -> [DetectedFace] {
      self.truth(Int(picture.samples[0])).map {
        DetectedFace(center: $0.center, size: $0.size, roll: $0.roll, confidence: 0.9)
      }
    }

    func faces(
      in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
    ) throws -> [DetectedFace] {
      let frame = Int(picture.samples[0])
      self.log?.searches.withLock { $0.append((frame, search)) }
      if self.fails(frame) { throw Broken() }
      return try self.faces(in: picture).filter(search.includes)
    }
  }

  /// Moves points with the nearest face, or throws.
  struct Flow: PointTracker {
    let truth: Truth
    var fails = false

    func points(of box: FaceBox, in picture: LumaPicture) throws -> [PicturePoint] {
      (0 ..< 16).map { box.point(u: 0.2 + 0.2 * Double($0 % 4), v: 0.2 + 0.2 * Double($0 / 4)) }
    }

    func follow(
      _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
    ) throws -> [PicturePoint?] {
      if self.fails { throw Broken() }
      let (before, after) = (self.truth(Int(first.samples[0])), self.truth(Int(second.samples[0])))
      return points.map { point in
        let faces = zip(before, after)
        let nearest = faces.min {
          Self.distance($0.0.center, point) < Self.distance($1.0.center, point)
        }
        return nearest.map { before, after in
          PicturePoint(
            x: point.x + after.center.x - before.center.x,
            y: point.y + after.center.y - before.center.y)
        }
      }
    }

    static func distance(_ one: PicturePoint, _ other: PicturePoint) -> Double {
      max(abs(one.x - other.x), abs(one.y - other.y))
    }
  }

  static func picture(
    _ frame: Int, level: UInt8 = 90, width: Int = 320, height: Int = 180
  ) -> LumaPicture {
    var samples = [UInt8](repeating: level, count: width * height)
    samples[0] = UInt8(frame)
    return LumaPicture(width: width, height: height, samples: samples)
  }

  /// Two faces, one of which moves.
  static let moving: Truth = { frame in
    [
      FaceBox(center: PicturePoint(x: 60 + 2 * Double(frame), y: 80), size: 50),
      FaceBox(center: PicturePoint(x: 240, y: 120), size: 40),
    ]
  }

  static func still(_ frame: Int) -> [FaceBox] {
    [FaceBox(center: PicturePoint(x: 160, y: 90), size: 60)]
  }

  @Test(arguments: [false, true])
  func `faces keep their ids and places, also without optical flow`(_ fails: Bool) async throws {
    var scene = FaceScene(
      finder: Finder(truth: Self.moving), points: Flow(truth: Self.moving, fails: fails))
    for frame in 0 ..< 60 {
      let report = await scene.step(Self.picture(frame), at: SimulatedScene.time(frame))
      guard frame >= 3 else { continue }
      #expect(report.faces.map(\.id) == [FaceID(1), FaceID(2)])
      for (face, truth) in zip(report.faces, Self.moving(frame)) {
        #expect(Flow.distance(face.rawBox.center, truth.center) < 1e-6)
        #expect(face.isFollowed || fails)
      }
    }
    #expect(scene.searchError == nil)
  }

  @Test func `known faces are looked for in a window, others in the whole picture`() async throws {
    let log = Log()
    var scene = FaceScene(
      finder: Finder(truth: Self.still, log: log), points: Flow(truth: Self.still),
      configuration: FaceTracker.Configuration(minSize: 0.2))
    for frame in 0 ..< 40 {
      _ = await scene.step(Self.picture(frame), at: SimulatedScene.time(frame))
    }
    let searches = log.searches.withLock { $0.map(\.search) }
    let whole = searches.filter { $0.window == nil }
    #expect(whole.map(\.angle) == Array(FaceTracker.searchAngles.prefix(whole.count)))
    #expect(whole.count == 3 && whole.allSatisfy { $0.sizes == 36 ... 320 })
    let looks = searches.compactMap(\.window)
    #expect(looks.count >= 5)
    for window in looks {
      #expect(Flow.distance(window.center, PicturePoint(x: 160, y: 90)) < 1e-6)
      #expect(abs(window.side - 132) < 1e-6)
    }
  }

  @Test func `a finder that throws is recorded, and its faces keep their ids`() async {
    let fails: @Sendable (Int) -> Bool = { (10 ..< 70).contains($0) }
    var scene = FaceScene(
      finder: Finder(truth: Self.still, fails: fails), points: Flow(truth: Self.still))
    for frame in 0 ..< 120 {
      let report = await scene.step(Self.picture(frame), at: SimulatedScene.time(frame))
      switch frame {
      case 9:
        #expect(report.faces.count == 1 && scene.searchError == nil)
      case 30:
        #expect(report.faces.map(\.id) == [FaceID(1)])
        #expect(report.search.isFailing && scene.searchError is Broken)
      case 69: #expect(report.faces.isEmpty && scene.searchError is Broken)
      case 119:
        // They were dropped, and found again within two seconds.
        #expect(report.faces.map(\.id) == [FaceID(1)])
        #expect(!report.search.isFailing && scene.searchError == nil)
      default: break
      }
    }
  }

  @Test(arguments: [(200, 320), (90, 300)])
  func `a cut and a picture of another size start again, with new ids`(
    _ level: UInt8, _ width: Int
  ) async {
    var scene = FaceScene(finder: Finder(truth: Self.still), points: Flow(truth: Self.still))
    for frame in 0 ..< 10 {
      _ = await scene.step(Self.picture(frame), at: SimulatedScene.time(frame))
    }
    var reports: [FaceReport] = []
    for frame in 10 ..< 20 {
      reports.append(
        await scene.step(
          Self.picture(frame, level: level, width: width), at: SimulatedScene.time(frame)))
    }
    #expect(reports.first?.faces.isEmpty == true)
    #expect(reports.last?.faces.map(\.id) == [FaceID(2)])
  }

  @Test func `a frame that is not later than the last changes nothing`() async {
    var scene = FaceScene(finder: Finder(truth: Self.moving), points: Flow(truth: Self.moving))
    var last = FaceReport(frame: SimulatedScene.time(0))
    for frame in 0 ..< 10 {
      last = await scene.step(Self.picture(frame), at: SimulatedScene.time(frame))
    }
    for time in [
      SimulatedScene.time(9), SimulatedScene.time(2),
      SceneTime(index: 10, time: SimulatedScene.time(9).time),
    ] {
      #expect(await scene.step(Self.picture(2, width: 300), at: time) == last)
    }
    let next = await scene.step(Self.picture(10), at: SimulatedScene.time(10))
    #expect(next.faces.map(\.id) == last.faces.map(\.id))
  }

  @Test(arguments: [1, 3, 20])
  func `a face is reported in a stream of few frames`(_ seconds: Int) async {
    var scene = FaceScene(finder: Finder(truth: Self.still), points: Flow(truth: Self.still))
    for frame in 0 ..< 12 {
      let report = await scene.step(
        Self.picture(frame), at: SceneTime(index: UInt64(frame), time: .seconds(seconds * frame)))
      if frame >= 2 { #expect(report.faces.map(\.id) == [FaceID(1)]) }
    }
  }

  @Test(arguments: 0 ... 3, [false, true])
  func `a picture is turned upright, and its faces are mapped back`(
    _ turns: Int, _ isMirrored: Bool
  ) throws {
    let orientation = Orientation(quarterTurns: turns, isMirrored: isMirrored)
    let (width, height) = (96, 64)
    // A bright square on the right of the stored frame.
    var frame = try BufferPool().makeFrame(
      FrameGeometry(format: .gray8, size: FrameSize(width: width, height: height)),
      orientation: orientation)
    for y in 0 ..< height {
      frame.withMutableRow(y) { row in
        for x in 0 ..< width {
          let isInside = (70 ..< 80).contains(x) && (10 ..< 20).contains(y)
          row.storeBytes(of: isInside ? 240 : 20, toByteOffset: x, as: UInt8.self)
        }
      }
    }
    let picture = UprightPicture(reducing: frame.finish()).luma
    let isTurned = turns % 2 == 1
    #expect(picture.width == (isTurned ? height : width))
    #expect(picture.height == (isTurned ? width : height))
    // The displayed position of the square: mirrored first, then turned clockwise.
    let bright = picture.samples.indices.filter { picture.samples[$0] > 128 }
    #expect(bright.count == 100)
    let xs = bright.map { $0 % picture.width }
    let ys = bright.map { $0 / picture.width }
    var (x, y) = (isMirrored ? 96.0 - 75 : 75, 15.0)
    var across = 64.0
    for _ in 0 ..< turns {
      (x, y) = (across - y, x)
      across = 160 - across
    }
    let (left, top) = (try #require(xs.min()), try #require(ys.min()))
    #expect(Double(left) + 5 == x && Double(top) + 5 == y)
    let region = UprightPicture(reducing: try Self.frame(orientation, width, height))
      .frameRegion(of: FaceBox(center: PicturePoint(x: x, y: y), size: 10))
    #expect(region.origin == FramePoint(x: Length(70), y: Length(10)))
    #expect(region.width == Length(10) && region.height == Length(10))
  }

  @Test func `regions are in pixels of the frame, however much it was reduced`() throws {
    let frame = try Self.frame(.upright, 1280, 720)
    let region = UprightPicture(reducing: frame)
      .frameRegion(of: FaceBox(center: PicturePoint(x: 100, y: 50), size: 40))
    #expect(region.origin == FramePoint(x: Length(320), y: Length(120)))
    #expect(region.width == Length(160))
  }

  private static func frame(
    _ orientation: Orientation, _ width: Int, _ height: Int
  ) throws -> Frame {
    try BufferPool().makeFrame(
      FrameGeometry(format: .gray8, size: FrameSize(width: width, height: height)),
      orientation: orientation
    ).finish()
  }
}
