import SidelightKernels
import Testing

/// Cuts, and regions that move.
@Suite struct `Motion regions` {
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

  static func regions(
    _ pictures: [LumaPicture], searched: [Int: [FullSearch]] = [:],
    isKnown: (PicturePoint) -> Bool = { _ in false }
  ) -> [MotionRegions.Region] {
    var motion = MotionRegions()
    for (frame, picture) in pictures.enumerated() {
      motion.add(
        picture, at: SimulatedScene.time(frame), searched: searched[frame] ?? [], isKnown: isKnown)
    }
    return motion.regions(largerThan: 0.08) { _ in false }
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

  @Test func `a picture that rests, gets brighter or is noisy has no regions`() {
    #expect(Self.regions((0 ..< 20).map { _ in Self.picture() }).isEmpty)
    #expect(Self.regions((0 ..< 20).map { Self.picture(shift: 2 * $0) }).isEmpty)
    for noise in [5, 10] {
      let noisy = (0 ..< 40).map { Self.picture(noise: noise, seed: UInt64($0)) }
      #expect(Self.regions(noisy).isEmpty)
    }
  }

  @Test(arguments: [(24, true), (12, true), (3, false)])
  func `an object that moves is in a region, unless it is small`(_ side: Int, _ isFound: Bool) {
    let pictures = (0 ..< 6).map {
      Self.picture(square: (40 + $0 / 2 * (side > 4 ? 2 : 0), 30, side), noise: 2, seed: UInt64($0))
    }
    let regions = Self.regions(pictures)
    #expect(regions.isEmpty != isFound)
    if isFound {
      #expect(regions.contains { $0.x.contains(40 + Double(side)) && $0.y.contains(36) })
    }
  }

  /// A successful search of a frame at one of the angles.
  static func search(_ frame: Int, angle: Int) -> FullSearch {
    FullSearch(
      frame: UInt64(frame), angle: FaceTracker.searchAngles[angle], minimumSize: 10)
  }

  @Test func `searches at each angle clear a region, but not searches of earlier frames`() {
    var pictures = (0 ..< 4).map { _ in Self.picture() }
    pictures += (4 ..< 12).map { _ in Self.picture(square: (40, 30, 24)) }
    #expect(!Self.regions(pictures).isEmpty)
    func isCleared(_ searches: [(frame: Int, angle: Int)]) -> Bool {
      let all = searches.map { Self.search($0.frame, angle: $0.angle) }
      let late = Self.regions(pictures, searched: [10: all]).isEmpty
      let oneByOne = Self.regions(
        pictures,
        searched: Dictionary(uniqueKeysWithValues: all.enumerated().map { (8 + $0, [$1]) }))
      #expect(oneByOne.isEmpty == late)
      return late
    }
    #expect(isCleared([(4, 0), (5, 1), (6, 2)]))
    #expect(isCleared([(7, 2), (5, 1), (4, 0)]))
    #expect(!isCleared([(4, 1), (5, 2)]))
    #expect(!isCleared([(4, 1), (5, 2), (6, 1)]))
    #expect(!isCleared([(3, 0), (5, 1), (6, 2)]))
  }

  /// An object that moves to the right by four pixels per frame. Its searches end in the next frame.
  @Test(arguments: [(-40, 24), (60, 124)])
  func `near an edge, an object that moves on is covered whole`(_ start: Int, _ edge: Int) throws {
    let isNear = start < 0
    var pictures = (0 ..< 4).map { _ in Self.picture() }
    pictures += (0 ..< 8).map { Self.picture(square: (start + 4 * $0, 30, 36)) }
    func searches(_ frames: Int) -> [Int: [FullSearch]] {
      Dictionary(
        uniqueKeysWithValues: (5 ..< frames).map { frame in
          (frame, (0 ..< 3).map { Self.search(frame - 1, angle: $0) })
        })
    }
    let regions = Self.regions(pictures, searched: searches(pictures.count))
    // The cells from which the right edge has come in four frames.
    let region = try #require(regions.first { $0.x.contains(Double(edge) - 2) })
    #expect(region.x.contains(Double(edge) - 14) == isNear)
    // At rest nothing is covered.
    pictures += (0 ..< 8).map { _ in Self.picture(square: (start + 28, 30, 36)) }
    #expect(Self.regions(pictures, searched: searches(pictures.count)).isEmpty)
  }

  @Test func `motion of a known face is not counted`() {
    var pictures = (0 ..< 4).map { _ in Self.picture() }
    pictures += (4 ..< 8).map { _ in Self.picture(square: (40, 30, 24)) }
    #expect(Self.regions(pictures) { $0.x < 80 }.isEmpty)
    #expect(!Self.regions(pictures) { $0.x > 80 }.isEmpty)
  }

  @Test func `tiny pictures and changes of size are accepted`() {
    let sizes = [(1, 1), (2, 5), (160, 90), (3, 3), (5, 1)]
    #expect(Self.regions(sizes.map { Self.picture(width: $0.0, height: $0.1) }).isEmpty)
  }
}
