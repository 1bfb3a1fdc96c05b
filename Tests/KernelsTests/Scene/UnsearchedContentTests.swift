import SidelightKernels
import SidelightScene
import Testing

/// Cuts, and content that searches have not seen.
@Suite struct `Unsearched content` {
  /// Noise on a slope, and a bright square.
  static func picture(
    square: (x: Int, y: Int, side: Int)? = nil, noise: Int = 0, shift: Int = 0, seed: UInt64 = 1,
    width: Int = 160, height: Int = 90
  ) -> LumaPicture {
    var random = TestRandom(seed: seed)
    let samples = (0 ..< width * height).map { index in
      let (x, y) = (index % width, index / width)
      var level = 60 + x / 4 + shift
      if let square, (square.x ..< square.x + square.side).contains(x),
        (square.y ..< square.y + square.side).contains(y)
      {
        level += 90
      }
      if noise > 0 {
        // The sum of three uniform numbers has a standard deviation of their range / 2.
        for _ in 0 ..< 3 { level += Int.random(in: -noise ... noise, using: &random) }
      }
      return UInt8(min(max(level, 0), 255))
    }
    return LumaPicture(width: width, height: height, samples: samples)
  }

  /// A picture of soft stripes in both directions that is moved.
  static func texture(
    x: Double = 0, y: Double = 0, width: Int = 160, height: Int = 90
  ) -> LumaPicture {
    let samples = (0 ..< width * height).map { index in
      let (column, row) = (Double(index % width) - x, Double(index / width) - y)
      let turns = 2 * Double.pi
      let wave =
        `Tracking accuracy`.sine(turns * column / 23)
        + `Tracking accuracy`.sine(turns * (row + 0.3 * column) / 31)
      return UInt8(128 + 45 * wave)
    }
    return LumaPicture(width: width, height: height, samples: samples)
  }

  /// The motion of a texture by a distance.
  static func motion(x: Float, y: Float, of picture: LumaPicture) -> ContentMotion {
    let cells = PictureCells(width: picture.width, height: picture.height)
    return ContentMotion(
      offsets: Array(repeating: SIMD2(-x, -y), count: cells.count),
      levels: cells.means(of: picture))
  }

  /// A successful search of a frame at one of the angles.
  static func search(_ frame: Int, angle: Int) -> FullSearch {
    FullSearch(
      frame: UInt64(frame), angle: FaceTracker.searchAngles[angle], minimumSize: 10)
  }

  /// Successful searches of a frame at all angles.
  static func searches(_ frame: Int) -> [FullSearch] {
    FaceTracker.searchAngles.indices.map { Self.search(frame, angle: $0) }
  }

  /// Pictures whose searches start in every frame, and succeed in the next one.
  struct Stream {
    var content = UnsearchedContent()
    var frame = 0

    /// Adds a frame. Returns the unsearched content.
    mutating func add(
      _ picture: LumaPicture, motion: ContentMotion? = nil, searched: [FullSearch]? = nil
    ) -> [UnsearchedContent.Region] {
      var search = FaceReport.SearchStatus()
      search.isStarted = true
      search.completed =
        searched ?? (self.frame > 0 ? `Unsearched content`.searches(self.frame - 1) : [])
      var motion = motion
      if motion?.frame == nil { motion?.frame = UInt64(max(self.frame - 1, 0)) }
      self.content.add(
        picture, at: SimulatedScene.time(self.frame), motion: motion, search: search)
      self.frame += 1
      return self.content.regions { _ in false }.rectangles
    }
  }

  static func contains(
    _ regions: [UnsearchedContent.Region], _ x: Double, _ y: Double
  ) -> Bool {
    regions.contains { $0.x.contains(x) && $0.y.contains(y) }
  }

  @Test func `the mean change is that of the formula`() throws {
    var random = TestRandom(seed: 3)
    for (width, height) in [(1, 1), (7, 3), (33, 65), (320, 180)] {
      let samples = (0 ..< 2).map { _ in
        (0 ..< width * height).map { _ in UInt8.random(in: 0 ... 255, using: &random) }
      }
      let pictures = samples.map { LumaPicture(width: width, height: height, samples: $0) }
      let sum = zip(samples[0], samples[1]).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
      let change = try #require(pictures[0].meanChange(from: pictures[1]))
      #expect(abs(change - Double(sum) / Double(width * height)) < 1e-9)
      #expect(pictures[0].meanChange(from: pictures[0]) == 0)
    }
    #expect(Self.picture().meanChange(from: Self.picture(width: 161)) == nil)
  }

  @Test func `content that rests, gets brighter or is noisy is searched`() {
    for kind in 0 ..< 4 {
      var stream = Stream()
      for frame in 0 ..< 40 {
        let picture =
          switch kind {
          case 0: Self.picture()
          case 1: Self.picture(shift: 2 * frame)
          default: Self.picture(noise: 5 * (kind - 1), seed: UInt64(frame))
          }
        let regions = stream.add(picture)
        #expect(regions.isEmpty == (frame > 0), "\(kind) \(frame)")
        #expect(!stream.content.hasMotion(in: nil))
      }
    }
  }

  @Test(arguments: [(24, true), (12, true), (3, false)])
  func `an object that appears is not searched, unless it is small`(_ side: Int, _ isFound: Bool) {
    var stream = Stream()
    for _ in 0 ..< 3 { _ = stream.add(Self.picture()) }
    let regions = stream.add(Self.picture(square: (40, 30, side), noise: 2))
    #expect(regions.isEmpty != isFound)
    #expect(Self.contains(regions, 41, 31) == isFound)
    #expect(!Self.contains(regions, 100, 60))
  }

  @Test func `searches at each angle end it, but not searches of earlier frames`() {
    func isSearched(_ searches: [(frame: Int, angle: Int)]) -> Bool {
      let all = searches.map { Self.search($0.frame, angle: $0.angle) }
      return [[all], all.map { [$0] }].map { groups in
        var stream = Stream()
        for _ in 0 ..< 4 { _ = stream.add(Self.picture()) }
        for _ in 4 ..< 8 { _ = stream.add(Self.picture(square: (40, 30, 24)), searched: []) }
        var regions: [UnsearchedContent.Region] = []
        for group in groups {
          regions = stream.add(Self.picture(square: (40, 30, 24)), searched: group)
        }
        return regions.isEmpty
      }.allSatisfy { $0 }
    }
    #expect(isSearched([(4, 0), (5, 1), (6, 2)]))
    #expect(isSearched([(7, 2), (5, 1), (4, 0)]))
    #expect(!isSearched([(4, 1), (5, 2)]))
    #expect(!isSearched([(4, 1), (5, 2), (6, 1)]))
    #expect(!isSearched([(3, 0), (5, 1), (6, 2)]))
  }

  @Test func `a face in a region that keeps changing is covered until it is searched`() {
    var stream = Stream()
    for _ in 0 ..< 4 { _ = stream.add(Self.picture()) }
    func square(_ level: Int) -> LumaPicture {
      var picture = Self.picture(square: (60, 20, 40))
      var samples = picture.samples
      for index in samples.indices where index % 160 / 8 % 2 == index / 160 / 8 % 2 {
        if (60 ..< 100).contains(index % 160), (20 ..< 60).contains(index / 160) {
          samples[index] = UInt8(level)
        }
      }
      picture = LumaPicture(width: 160, height: 90, samples: samples)
      return picture
    }
    // Three seconds, all of which are searched.
    for frame in 0 ..< 90 {
      let regions = stream.add(square(frame % 3 * 90))
      #expect(Self.contains(regions, 80, 40), "\(frame)")
    }
    let last = stream.frame
    for _ in 0 ..< 5 { #expect(Self.contains(stream.add(square(240), searched: []), 80, 40)) }
    for angle in 0 ..< 3 {
      let regions = stream.add(square(240), searched: [Self.search(last, angle: angle)])
      #expect(regions.isEmpty == (angle == 2))
    }
  }

  @Test func `content that moves is searched where optical flow follows it`() {
    for isFollowed in [true, false] {
      var stream = Stream()
      var regions: [UnsearchedContent.Region] = []
      for frame in 0 ..< 30 {
        let picture = Self.texture(x: 1.5 * Double(frame), y: -0.5 * Double(frame))
        regions = stream.add(
          picture,
          motion: isFollowed && frame > 0 ? Self.motion(x: 1.5, y: -0.5, of: picture) : nil)
      }
      #expect(Self.contains(regions, 100, 60) == !isFollowed)
      // All of it moves alike.
      #expect(stream.content.hasMotion(in: nil) == !isFollowed)
      #expect((stream.content.cameraDistance > 1.5) == isFollowed)
    }
  }

  /// Content that comes in at speeds between a fifth of a pixel and two cells per search.
  @Test(arguments: [(1, 0), (-1, 0), (0, 1), (0, -1)], [0.2, 1, 2.5, 3, 7])
  func `content that comes in at an edge is covered until it is searched away from it`(
    _ direction: (x: Int, y: Int), _ speed: Double
  ) {
    var stream = Stream()
    var regions = stream.add(Self.texture(width: 320, height: 180))
    let (x, y) = (Double(direction.x) * speed, Double(direction.y) * speed)
    let frames = Int(130 / speed)
    for frame in 1 ... frames {
      let picture = Self.texture(
        x: Double(frame) * x, y: Double(frame) * y, width: 320, height: 180)
      regions = stream.add(picture, motion: Self.motion(x: Float(x), y: Float(y), of: picture))
    }
    func isCovered(_ distance: Double) -> Bool {
      Self.contains(
        regions, x > 0 ? distance : x < 0 ? 320 - distance : 160,
        y > 0 ? distance : y < 0 ? 180 - distance : 90)
    }
    // From the lower edge on only new content is covered. The distance that slow content has moved
    // is forgotten before it is far from the edge.
    for distance in y < 0 ? [36.0, 60] : speed < 1 ? [12, 36] : [12, 36, 60] {
      #expect(isCovered(distance) == (y >= 0), "\(distance)")
    }
    #expect(!isCovered(72 + 3 * speed + 16))
    // At rest it is forgotten in the end.
    let last = Self.texture(
      x: Double(frames) * x, y: Double(frames) * y, width: 320, height: 180)
    for _ in 0 ..< 1000 { regions = stream.add(last) }
    #expect(regions.isEmpty)
  }

  @Test func `content that leaves the edge is covered until the whole of it is searched`() {
    var stream = Stream()
    _ = stream.add(Self.texture(width: 320, height: 180))
    var regions: [UnsearchedContent.Region] = []
    // The last searches are of frames in which all of it was near the edge.
    for frame in 1 ... 50 {
      let picture = Self.texture(x: 3 * Double(frame), width: 320, height: 180)
      regions = stream.add(
        picture, motion: Self.motion(x: 3, y: 0, of: picture), searched: frame < 25 ? nil : [])
    }
    #expect(Self.contains(regions, 110, 90))
    regions = stream.add(
      Self.texture(x: 150, width: 320, height: 180), searched: Self.searches(stream.frame - 1))
    #expect(!Self.contains(regions, 110, 90))
  }

  @Test(arguments: ["other frame", "not finite", "too few", "none"])
  func `a motion that is not valid explains nothing`(_ kind: String) {
    var stream = Stream()
    for _ in 0 ..< 4 { _ = stream.add(Self.picture()) }
    let picture = Self.picture(square: (40, 30, 24))
    var motion: ContentMotion? = Self.motion(x: 0, y: 0, of: picture)
    switch kind {
    case "other frame": motion?.frame = 0
    case "not finite": motion?.levels[5] = .nan
    case "too few": motion?.offsets.removeLast()
    default: motion = nil
    }
    #expect(Self.contains(stream.add(picture, motion: motion), 50, 40))
    #expect(stream.content.cameraStep == PicturePoint(x: 0, y: 0))
  }

  @Test func `what is covered already is left out`() {
    var stream = Stream()
    for _ in 0 ..< 4 { _ = stream.add(Self.picture()) }
    _ = stream.add(Self.picture(square: (40, 30, 24)))
    #expect(stream.content.regions { $0.x < 80 }.rectangles.isEmpty)
    #expect(!stream.content.regions { $0.x > 80 }.rectangles.isEmpty)
  }

  @Test func `tiny pictures and changes of size are accepted`() {
    var stream = Stream()
    for (width, height) in [(1, 1), (2, 5), (160, 90), (3, 3), (5, 1)] {
      #expect(!stream.add(Self.picture(width: width, height: height), searched: []).isEmpty)
      #expect(stream.add(Self.picture(width: width, height: height)).isEmpty)
    }
  }
}
