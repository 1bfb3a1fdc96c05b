import SidelightKernels
import SidelightScene
import Testing

import SidelightVision

@Suite struct FaceFinderCombinationTests {
  /// Returns the same faces in every search, or throws.
  struct FixedFinder: FaceFinder {
    struct Failure: Error {}

    var found: [DetectedFace]?
    var needsColor = false
    /// A search with colour that the finder does not need is an error.
    var refusesColor = false

    func faces(in picture: LumaPicture) throws -> [DetectedFace] {
      guard let found else { throw Failure() }
      return found
    }

    func faces(
      in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
    ) throws -> [DetectedFace] {
      if self.refusesColor, color != nil { throw Failure() }
      return try self.faces(in: picture).filter(search.includes)
    }
  }

  private static let color = TestPictures.noise(width: 320, height: 180)
  private static let luma = LumaPicture(Self.color)

  private static func face(
    _ x: Double, _ y: Double, _ size: Double, roll: Double = 0, confidence: Double = 1
  ) -> DetectedFace {
    DetectedFace(
      center: PicturePoint(x: x, y: y), size: size, roll: roll, confidence: confidence)
  }

  private static func search(
    _ finder: some FaceFinder, _ search: FaceSearch = FaceSearch()
  ) async throws -> [DetectedFace] {
    var finder = finder
    return try await finder.faces(in: Self.luma, color: Self.color, search: search)
  }

  // MARK: Union

  @Test func `a union has the faces of each finder`() async throws {
    let one = FixedFinder(found: [Self.face(60, 90, 50), Self.face(160, 90, 50)])
    let two = FixedFinder(found: [Self.face(260, 90, 50)])
    #expect(try await Self.search(UnionFaceFinder([one, two])).map(\.center.x) == [60, 160, 260])
    #expect(try await Self.search(UnionFaceFinder([two, one])).count == 3)
    var union = UnionFaceFinder([one, two])
    #expect(try await union.faces(in: Self.luma).count == 3)
  }

  @Test func `of two detections of one face the earlier finder's counts`() async throws {
    let model = FixedFinder(found: [Self.face(100, 90, 50, roll: 0.3, confidence: 0.6)])
    let cascade = FixedFinder(found: [Self.face(110, 95, 60, confidence: 0.9)])
    let faces = try await Self.search(UnionFaceFinder([model, cascade]))
    #expect(faces == [Self.face(100, 90, 50, roll: 0.3, confidence: 0.9)])
  }

  @Test(arguments: [(126.0, 50.0), (100, 90), (100, 28)])
  func `detections that are far apart or of other sizes are different faces`(
    x: Double, size: Double
  ) async throws {
    let one = FixedFinder(found: [Self.face(100, 90, 50)])
    let two = FixedFinder(found: [Self.face(x, 90, size)])
    #expect(try await Self.search(UnionFaceFinder([one, two])).count == 2)
  }

  @Test func `detections of one finder are not merged`() async throws {
    let none = FixedFinder(found: [])
    let two = FixedFinder(found: [Self.face(100, 90, 50), Self.face(104, 90, 50)])
    #expect(try await Self.search(UnionFaceFinder([none, two])).count == 2)
  }

  @Test(arguments: [0, 1])
  func `a search fails if one of the finders fails`(broken: Int) async throws {
    var parts = [FixedFinder(found: [Self.face(100, 90, 50)]), FixedFinder(found: [])]
    parts[broken].found = nil
    await #expect(throws: FixedFinder.Failure.self) {
      try await Self.search(UnionFaceFinder(parts))
    }
    await #expect(throws: FixedFinder.Failure.self) {
      var union = UnionFaceFinder(parts)
      _ = try await union.faces(in: Self.luma)
    }
  }

  @Test func `colour reaches only the finders that need it`() async throws {
    let gray = FixedFinder(found: [], refusesColor: true)
    #expect(!UnionFaceFinder([gray, gray]).needsColor)
    let union = UnionFaceFinder([FixedFinder(found: [], needsColor: true), gray])
    #expect(union.needsColor)
    #expect(try await Self.search(union).isEmpty)
  }

  // MARK: Two ranges

  @Test func `whole pictures and windows have different finders`() async throws {
    let finder = TwoRangeFaceFinder(
      far: FixedFinder(found: [Self.face(40, 40, 30)]),
      near: FixedFinder(found: [Self.face(160, 90, 60)], needsColor: true))
    #expect(finder.needsColor)
    #expect(try await Self.search(finder).map(\.size) == [30])
    let window = FaceSearch.Window(center: PicturePoint(x: 160, y: 90), side: 130)
    #expect(try await Self.search(finder, FaceSearch(window: window)).map(\.size) == [60])
  }

  // MARK: Landmarks

  private static let landmarks = FaceLandmarks(
    leftEye: PicturePoint(x: 90, y: 80), rightEye: PicturePoint(x: 110, y: 80),
    mouth: PicturePoint(x: 100, y: 100))

  @Test func `landmarks replace the place, size and angle, and not the confidence`() async throws {
    let finder = LandmarkFaceFinder(
      FixedFinder(found: [Self.face(100, 90, 50, confidence: 0.7)])
    ) { face, _ in
      DetectedFace(
        center: PicturePoint(x: face.center.x + 3, y: face.center.y), size: 48, roll: 0.2,
        confidence: 1, landmarks: Self.landmarks)
    }
    #expect(finder.needsColor)
    let face = try #require(try await Self.search(finder).first)
    #expect(face.center.x == 103 && face.size == 48 && face.roll == 0.2)
    #expect(face.landmarks == Self.landmarks && face.confidence == 0.7)
  }

  @Test(arguments: [(160.0, 50.0), (100, 20), (100, 100), (0, 0)])
  func `a face keeps its place if the landmarks are elsewhere or missing`(
    x: Double, size: Double
  ) async throws {
    let known = Self.face(100, 90, 50)
    let finder = LandmarkFaceFinder(FixedFinder(found: [known])) { _, _ in
      size > 0 ? Self.face(x, 90, size, roll: 1) : nil
    }
    #expect(try await Self.search(finder) == [known])
  }

  @Test func `only the largest faces get landmarks`() async throws {
    let sizes = [20.0, 60, 30, 50, 40, 10]
    let found = sizes.enumerated().map { Self.face(25 + 50 * Double($0.offset), 90, $0.element) }
    let finder = LandmarkFaceFinder(FixedFinder(found: found)) { face, _ in
      var face = face
      face.landmarks = Self.landmarks
      return face
    }
    let faces = try await Self.search(finder)
    #expect(faces.filter { $0.landmarks != nil }.map(\.size) == [60, 50, 40, 30])
    #expect(faces.count == sizes.count)
  }

  @Test func `a search fails if the landmarks fail`() async {
    let finder = LandmarkFaceFinder(FixedFinder(found: [Self.face(100, 90, 50)])) { _, _ in
      throw FixedFinder.Failure()
    }
    await #expect(throws: FixedFinder.Failure.self) { try await Self.search(finder) }
  }
}
