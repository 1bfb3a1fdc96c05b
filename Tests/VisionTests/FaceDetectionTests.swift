import SidelightKernelLanguage
import SidelightKernels
import SidelightScene
import SidelightVision
import Testing

/// The filter as part of a catalogue, in every build.
@Suite struct `The filter faceDetection` {
  private static func catalogue() -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerVision()
    return catalogue
  }

  @Test func `its typed function has all parameters`() throws {
    guard
      case .filter(let call) = Stage.faceDetection(everyNth: 3, minSize: 0.2, maxFaces: 4).content
    else { return }
    #expect(call.name == FaceDetection.description.name)
    #expect(
      call.parameters.keys.sorted() == FaceDetection.description.parameters.map(\.name).sorted())
  }

  @Test func `the catalogue always describes it`() throws {
    let catalogue = Self.catalogue()
    #expect(catalogue.allDescriptions.contains(FaceDetection.description))
    #expect(FaceDetection.description.requirement == .vision)
  }

  #if Vision
    @Test
    func `a folder without cascades makes it unavailable, with the path in the reason`() throws {
      var catalogue = Self.catalogue()
      var vision = VisionConfiguration()
      vision.cascadeFolder = "/nowhere"
      catalogue.registerVision(vision)
      #expect(catalogue.description(named: "faceDetection") == nil)
      let error = try #require(throws: PipelineError.self) {
        try catalogue.resolve([.faceDetection()])
      }
      #expect(error.code == .unavailableFilter)
      #expect(error.message.contains("/nowhere/haarcascades"))
    }
  #else
    @Test func `without Vision it is refused with the reason`() throws {
      let catalogue = Self.catalogue()
      #expect(!catalogue.descriptions.contains(FaceDetection.description))
      let error = try #require(throws: PipelineError.self) {
        try catalogue.resolve([.faceDetection()])
      }
      #expect(error.code == .unavailableFilter)
      #expect(
        error.message
          == "the filter \"faceDetection\" is not available: this server is built without Vision")
    }
  #endif
}

#if Vision
  import Foundation

  @Suite struct `Face detection in a session` {
    struct Broken: Error, CustomStringConvertible {
      let description = "the finder is broken"
    }

    /// Reports faces by the frame number that the picture's level states.
    struct ScriptedFinder: FaceFinder {
      let script: @Sendable (Int) throws -> [DetectedFace]

      func faces(in picture: LumaPicture) throws -> [DetectedFace] {
        try self.script(Int(picture.samples[0]))
      }
    }

    private static func analyzer(
      _ parameters: [String: ParameterValue] = [:],
      finder: @escaping @Sendable () -> any FaceFinder
    ) throws -> any FrameAnalyzer {
      var catalogue = FilterCatalogue()
      catalogue.register(FaceDetection.description) { arguments in
        FaceDetection(arguments, tools: FaceTools(finder: finder) { OpticalFlow() })
      }
      return try self.analyzer(parameters, catalogue)
    }

    private static func analyzer(
      _ parameters: [String: ParameterValue], _ catalogue: FilterCatalogue
    ) throws -> any FrameAnalyzer {
      let geometry = FrameGeometry(format: .rgb24, size: FrameSize(width: 320, height: 180))
      let plan = try catalogue.resolve([.filter("faceDetection", parameters)]).plan(for: geometry)
      return try #require(plan.analyses.first).analysis.makeAnalyzer()
    }

    /// A frame of one level, which is the number of the frame.
    private static func flat(_ level: Int) throws -> Frame {
      try TestPictures.frame(
        ColorPicture(
          width: 320, height: 180, samples: [UInt8](repeating: UInt8(level), count: 3 * 57600)))
    }

    private static func time(_ frame: Int, milliseconds: Int = 100) -> FrameTime {
      FrameTime(index: UInt64(frame), arrival: .seconds(1000) + .milliseconds(milliseconds * frame))
    }

    private static func number(_ found: [String: AnalysisValue], _ name: String) -> Double? {
      if case .number(let value)? = found[name] { value } else { nil }
    }

    private static func vector(_ found: [String: AnalysisValue], _ name: String) -> [Double]? {
      if case .vector(let values)? = found[name] { values } else { nil }
    }

    /// The detections: boxes, confidences and ids.
    private static func faces(
      _ found: [String: AnalysisValue]
    ) -> [(region: Region, confidence: Double, id: UInt64)] {
      guard case .list(let values)? = found["face"] else { return [] }
      return values.compactMap {
        if case .region(let region, let confidence, let id) = $0 {
          (region, confidence, id)
        } else {
          nil
        }
      }
    }

    @Test func `faces have ids, and their attendance is reported`() async throws {
      // One face all the time, one from frame 20 to 59. A known face delays searches for others.
      let finder = ScriptedFinder { frame in
        let first = DetectedFace(
          center: PicturePoint(x: 80, y: 90), size: 60, roll: 0.1, confidence: 0.8)
        let second = DetectedFace(
          center: PicturePoint(x: 240, y: 90), size: 50, confidence: 0.6)
        return (20 ..< 60).contains(frame) ? [first, second] : [first]
      }
      var analyzer = try Self.analyzer { finder }
      var results: [[String: AnalysisValue]] = []
      for frame in 0 ..< 100 {
        results.append(
          try await analyzer.analyze(try Self.flat(frame), at: Self.time(frame)))
      }
      let early = results[8]
      #expect(Self.number(early, "faces") == 1 && Self.number(early, "facesSeen") == 0)
      #expect(Self.faces(early).map(\.id) == [1])
      let region = try #require(Self.faces(early).first?.region)
      #expect(region.width == Length(60) && region.height == Length(60))
      #expect(region.origin == FramePoint(x: Length(50), y: Length(60)))
      #expect(abs((Self.vector(early, "roll")?.first ?? 0) - 5.73) < 0.1)
      let both = results[59]
      #expect(Self.faces(both).map(\.id) == [1, 2])
      #expect(Self.vector(both, "presentIds") == [1, 2])
      #expect(Self.vector(both, "leftIds") == [])
      let last = results[99]
      #expect(Self.number(last, "faces") == 1 && Self.number(last, "facesSeen") == 2)
      #expect(Self.vector(last, "presentIds") == [1] && Self.vector(last, "leftIds") == [2])
      let present = try #require(Self.vector(last, "presentSeconds")?.first)
      #expect((9.5 ... 9.9).contains(present))
      let left = try #require(Self.vector(last, "leftSeconds")?.first)
      #expect((2.5 ... 5).contains(left))
      #expect(last["searchError"] == nil)
    }

    @Test func `the number of faces is limited, the largest are kept`() async throws {
      let finder = ScriptedFinder { _ in
        (0 ..< 6).map {
          DetectedFace(
            center: PicturePoint(x: 30 + 50 * Double($0), y: 90), size: 24 + 2 * Double($0))
        }
      }
      var analyzer = try Self.analyzer(["maxFaces": .number(3)]) { finder }
      var found: [String: AnalysisValue] = [:]
      for frame in 0 ..< 10 {
        found = try await analyzer.analyze(try Self.flat(90), at: Self.time(frame))
      }
      #expect(Self.faces(found).map(\.region.width.value).sorted() == [30, 32, 34])
    }

    @Test func `a finder that throws is reported, and the analysis goes on`() async throws {
      let finder = ScriptedFinder { frame in
        if frame < 12 { throw Broken() }
        return [DetectedFace(center: PicturePoint(x: 80, y: 90), size: 60)]
      }
      var analyzer = try Self.analyzer { finder }
      for frame in 0 ..< 40 {
        let found = try await analyzer.analyze(try Self.flat(frame), at: Self.time(frame))
        if frame == 5 {
          #expect(found["searchError"] == .text("the finder is broken"))
          #expect(Self.number(found, "faces") == 0)
        }
        if frame == 39 {
          #expect(found["searchError"] == nil && Self.number(found, "faces") == 1)
        }
      }
    }

    @Test func `analyzers of different sessions have no common state`() async throws {
      let finder = ScriptedFinder { _ in
        [DetectedFace(center: PicturePoint(x: 80, y: 90), size: 60)]
      }
      var (one, two) = (try Self.analyzer { finder }, try Self.analyzer { finder })
      for frame in 0 ..< 10 {
        _ = try await one.analyze(try Self.flat(90), at: Self.time(frame))
      }
      let found = try await two.analyze(try Self.flat(90), at: Self.time(10))
      #expect(Self.number(found, "faces") == 0)
    }

    /// A portrait that moves over the frame, 1280 wide, as every second frame of 30 per second.
    @Test
    func `a portrait that moves keeps one id, and its box is within 9 pixels of the truth at 1280`()
      async throws
    {
      var catalogue = FilterCatalogue.builtIn
      catalogue.registerVision()
      try #require(catalogue.description(named: "faceDetection") != nil)
      var analyzer = try Self.analyzer([:], catalogue)
      let portrait = try TestPictures.portrait()
      var ids: Set<UInt64> = []
      var errors: [Double] = []
      for frame in 0 ..< 48 {
        let angle = 2 * .pi * Double(frame) / 48
        // The face is 70 of 320 pixels, and moves by up to 4 of them in a frame.
        let place = PicturePoint(x: 160 + 30 * sin(angle), y: 90 + 10 * sin(2 * angle))
        let roll = 0.12 * sin(angle)
        let small = TestPictures.placed(
          portrait, center: TestPictures.faceCenter, at: place,
          scale: 70 / TestPictures.faceSize, roll: roll)
        let found = try await analyzer.analyze(
          try TestPictures.frame(Self.enlarged(small, 4)), at: Self.time(frame, milliseconds: 67))
        let faces = Self.faces(found)
        ids.formUnion(faces.map(\.id))
        guard frame >= 4 else { continue }
        #expect(faces.count == 1)
        guard let region = faces.first?.region else { continue }
        let x = region.origin.x.value + region.width.value / 2 - 4 * place.x
        let y = region.origin.y.value + region.height.value / 2 - 4 * place.y
        errors.append(hypot(x, y))
      }
      #expect(ids == [1])
      errors.sort()
      let percentile = errors.isEmpty ? .infinity : errors[errors.count * 95 / 100]
      #expect(percentile <= 9, "of \(errors.last ?? .infinity) at most")
    }

    /// People at places of the frame, and a board of fine texture that slides before them, stays,
    /// and goes back.
    private struct HiddenPeople {
      /// The frames in which the board stays.
      let hidden: Range<Int>
      /// The number of frames in which it slides.
      static let slide = 8
      /// The columns that it covers.
      let board: ClosedRange<Double>
      let people: (Int) -> [(portrait: ColorPicture, place: PicturePoint)]
      /// Of little contrast, since much of it would count as a cut while it slides.
      private let texture = {
        let noise = TestPictures.noise(width: 320, height: 180, seed: 4)
        return ColorPicture(
          width: 320, height: 180, samples: noise.samples.map { 96 + $0 / 4 })
      }()

      /// The faces are 60 pixels wide.
      func picture(_ frame: Int) throws -> ColorPicture {
        var picture = ColorPicture(
          width: 320, height: 180, samples: [UInt8](repeating: 110, count: 3 * 57600))
        for (portrait, place) in self.people(frame) {
          let drawn = TestPictures.placed(
            portrait, center: TestPictures.faceCenter, at: place, scale: 60 / TestPictures.faceSize)
          let columns = max(0, Int(place.x) - 60) ..< min(320, Int(place.x) + 60)
          Self.copy(drawn, to: &picture, columns) { $0 }
        }
        let before = Double(self.hidden.lowerBound - frame) / Double(Self.slide)
        let after = Double(frame - self.hidden.upperBound) / Double(Self.slide)
        let shift = Int(320 * max(0, before, after))
        let columns = Int(self.board.lowerBound) + shift ..< Int(self.board.upperBound) + shift
        Self.copy(self.texture, to: &picture, columns.clamped(to: 0 ..< 320)) { $0 - shift }
        return picture
      }

      private static func copy(
        _ source: ColorPicture, to picture: inout ColorPicture, _ columns: Range<Int>,
        from column: (Int) -> Int
      ) {
        var samples = picture.samples
        for y in 0 ..< 180 {
          for x in columns {
            for channel in 0 ..< 3 {
              samples[3 * (320 * y + x) + channel] =
                source.samples[3 * (320 * y + max(0, column(x))) + channel]
            }
          }
        }
        picture = ColorPicture(width: 320, height: 180, samples: samples)
      }
    }

    /// Returns the ids by frame, from left to right.
    private static func ids(_ scene: HiddenPeople, frames: Int) async throws -> [[UInt64]] {
      var catalogue = FilterCatalogue.builtIn
      catalogue.registerVision()
      try #require(catalogue.description(named: "faceDetection") != nil)
      var analyzer = try Self.analyzer([:], catalogue)
      var ids: [[UInt64]] = []
      for frame in 0 ..< frames {
        let found = try await analyzer.analyze(
          try TestPictures.frame(try scene.picture(frame)), at: Self.time(frame, milliseconds: 33))
        ids.append(
          Self.faces(found).sorted { $0.region.origin.x.value < $1.region.origin.x.value }
            .map(\.id))
      }
      return ids
    }

    @Test(arguments: [12, 30, 50])
    func `a face that a board hides completely has its id again`(_ hidden: Int) async throws {
      let portrait = try TestPictures.portrait()
      let scene = HiddenPeople(hidden: 40 ..< 40 + hidden, board: 100 ... 220) { frame in
        [(portrait, PicturePoint(x: 160 + 0.2 * Double(frame), y: 90))]
      }
      let ids = try await Self.ids(scene, frames: 110 + hidden)
      #expect(ids[29] == [1])
      #expect(ids[40 + hidden + 30 ..< ids.count].allSatisfy { $0 == [1] }, "\(ids)")
    }

    @Test(arguments: [false, true])
    func `two faces that may change places behind a board have new ids`(
      _ change: Bool
    ) async throws {
      let portrait = try TestPictures.portrait()
      let other = TestPictures.mirrored(portrait)
      let scene = HiddenPeople(hidden: 40 ..< 75, board: 20 ... 300) { frame in
        let (one, two) = change && frame > 55 ? (235.0, 85.0) : (85, 235)
        return [
          (portrait, PicturePoint(x: one, y: 90)), (other, PicturePoint(x: two, y: 90)),
        ]
      }
      let ids = try await Self.ids(scene, frames: 130)
      #expect(ids[29] == [1, 2])
      #expect(ids[74].isEmpty)
      #expect(ids[129].count == 2 && ids[129].allSatisfy { $0 > 2 }, "\(ids)")
    }

    /// Every pixel as a square.
    private static func enlarged(_ picture: ColorPicture, _ factor: Int) -> ColorPicture {
      var samples: [UInt8] = []
      samples.reserveCapacity(picture.samples.count * factor * factor)
      for y in 0 ..< picture.height {
        var row: [UInt8] = []
        for x in 0 ..< picture.width {
          let start = 3 * (y * picture.width + x)
          for _ in 0 ..< factor { row += picture.samples[start ..< start + 3] }
        }
        for _ in 0 ..< factor { samples += row }
      }
      return ColorPicture(
        width: picture.width * factor, height: picture.height * factor, samples: samples)
    }
  }
#endif
