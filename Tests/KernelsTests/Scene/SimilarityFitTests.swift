import SidelightKernels
import SidelightScene
import Testing

/// The movement of a face from point pairs.
@Suite struct `The similarity fit` {
  static func pairs(
    _ transform: SimilarityTransform, count: Int = 36, noise: Double = 0, wrong: Int = 0,
    seed: UInt64 = 1
  ) -> [SimilarityFit.Pair] {
    var random = TestRandom(seed: seed)
    func uniform(_ range: ClosedRange<Double>) -> Double {
      Double.random(in: range, using: &random)
    }
    return (0 ..< count).map { index in
      let before = PicturePoint(x: uniform(100 ... 180), y: uniform(40 ... 120))
      var after = transform(before)
      after.x += uniform(-1 ... 1) * noise + (index < wrong ? uniform(10 ... 15) : 0)
      after.y += uniform(-1 ... 1) * noise - (index < wrong ? uniform(10 ... 15) : 0)
      return SimilarityFit.Pair(before: before, after: after)
    }
  }

  static let movements: [SimilarityTransform] = [
    .identity, .init(a: 1, b: 0, tx: 7, ty: -3),
    .init(
      scale: 1.1, rotation: 0.15, from: PicturePoint(x: 140, y: 80),
      to: PicturePoint(x: 150, y: 77)),
    .init(
      scale: 0.88, rotation: -0.2, from: PicturePoint(x: 140, y: 80),
      to: PicturePoint(x: 139, y: 90)),
  ]

  @Test(arguments: Self.movements)
  func `exact pairs give the movement`(_ movement: SimilarityTransform) throws {
    for count in [8, 9, 36] {
      let fit = try SimilarityFit(Self.pairs(movement, count: count))
      #expect(abs(fit.transform.a - movement.a) < 1e-9)
      #expect(abs(fit.transform.b - movement.b) < 1e-9)
      #expect(abs(fit.transform.tx - movement.tx) < 1e-6)
      #expect(abs(fit.transform.ty - movement.ty) < 1e-6)
      #expect(fit.residual < 1e-6)
    }
  }

  /// One pass is pulled by the wrong pairs; half of them wrong is too many for two.
  @Test(arguments: [(0, true), (8, true), (18, false)])
  func `a quarter of wrong pairs is left out`(_ wrong: Int, _ isExact: Bool) throws {
    let movement = SimilarityTransform(a: 1, b: 0, tx: 4, ty: 2)
    let pairs = Self.pairs(movement, noise: 0.2, wrong: wrong)
    let center = PicturePoint(x: 140, y: 80)
    let found = try SimilarityFit(pairs).transform(center)
    let error = SimilarityFit.Pair(before: movement(center), after: found)
    let distance = SimulatedScene.distance(error.before, error.after)
    #expect(isExact ? distance < 0.3 : distance > 1)
  }

  @Test func `movements that no face makes are refused`() {
    let center = PicturePoint(x: 140, y: 80)
    func refusal(_ scale: Double, _ degrees: Double) -> SimilarityFit.Refusal? {
      let movement = SimilarityTransform(
        scale: scale, rotation: degrees * .pi / 180, from: center, to: center)
      do throws(SimilarityFit.Refusal) {
        _ = try SimilarityFit(Self.pairs(movement))
        return nil
      } catch {
        return error
      }
    }
    #expect(refusal(1.17, 0) == nil)
    #expect(refusal(1.19, 0) == .scale)
    #expect(refusal(1 / 1.17, 0) == nil)
    #expect(refusal(1 / 1.19, 0) == .scale)
    #expect(refusal(1, 11.9) == nil)
    #expect(refusal(1, 12.1) == .rotation)
    #expect(refusal(1, -12.1) == .rotation)
    #expect(refusal(1, 180) == .rotation)
  }

  @Test func `too few pairs, one place and numbers that are not finite are refused`() {
    let pairs = Self.pairs(.identity)
    #expect(throws: SimilarityFit.Refusal.tooFewPairs) { try SimilarityFit([]) }
    #expect(throws: SimilarityFit.Refusal.tooFewPairs) { try SimilarityFit(Array(pairs[..<7])) }
    #expect(throws: SimilarityFit.Refusal.noExtent) {
      try SimilarityFit(Array(repeating: pairs[0], count: 20))
    }
    #expect(throws: SimilarityFit.Refusal.noExtent) {
      try SimilarityFit(
        pairs.map { SimilarityFit.Pair(before: $0.before, after: pairs[0].after) })
    }
    var broken = pairs
    broken[3].after.x = .nan
    #expect(throws: SimilarityFit.Refusal.tooFewPairs) { try SimilarityFit(broken) }
  }

  @Test func `movements compose`() {
    var random = TestRandom(seed: 9)
    for _ in 0 ..< 100 {
      let movements = (0 ..< 2).map { _ in
        SimilarityTransform(
          scale: Double.random(in: 0.5 ... 2, using: &random),
          rotation: Double.random(in: -3 ... 3, using: &random),
          from: PicturePoint(x: 3, y: 4),
          to: PicturePoint(x: Double.random(in: -9 ... 9, using: &random), y: 1))
      }
      let both = movements[0].followed(by: movements[1])
      let point = PicturePoint(x: 11, y: -6)
      #expect(
        SimulatedScene.distance(both(point), movements[1](movements[0](point))) < 1e-9)
      #expect(abs(both.scale - movements[0].scale * movements[1].scale) < 1e-9)
      let box = FaceBox(center: point, size: 5, roll: 0.4)
      let corner = box.point(u: 0, v: 1)
      #expect(
        SimulatedScene.distance(both(corner), box.moved(by: both).point(u: 0, v: 1)) < 1e-9)
    }
  }
}
