import SidelightKernels
import SidelightScene
import Testing

/// Boxes, anchors and placements of stickers.
@Suite struct `Face geometry` {
  static let zero = PicturePoint(x: 0, y: 0)

  static func isClose(_ one: PicturePoint, _ other: PicturePoint) -> Bool {
    SimulatedScene.distance(one, other) < 1e-9
  }

  @Test func `anchors are points of the canonical box`() {
    let face = FaceBox(center: PicturePoint(x: 100, y: 60), size: 40)
    func anchor(_ anchor: FaceAnchor) -> PicturePoint {
      StickerPlacement(anchor: anchor).transform(width: 10, height: 10, on: face)(
        PicturePoint(x: 5, y: 5))
    }
    #expect(Self.isClose(anchor(.face), PicturePoint(x: 100, y: 60)))
    #expect(Self.isClose(anchor(.eyes), PicturePoint(x: 99.6, y: 54.8)))
    #expect(Self.isClose(anchor(.mouth), PicturePoint(x: 100, y: 71.6)))
    #expect(anchor(.forehead).y < anchor(.eyes).y && anchor(.forehead).y > 40)
  }

  @Test func `a quarter turn clockwise moves the mouth to the left`() {
    let face = FaceBox(center: PicturePoint(x: 100, y: 60), size: 40, roll: .pi / 2)
    let mouth = face.point(u: 0.5, v: 0.79)
    #expect(Self.isClose(mouth, PicturePoint(x: 88.4, y: 60)))
  }

  @Test(arguments: FaceAnchor.allCases)
  func `a sticker moves with the face`(_ anchor: FaceAnchor) {
    var random = TestRandom(seed: 4)
    for _ in 0 ..< 50 {
      func uniform(_ range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &random)
      }
      let placement = StickerPlacement(
        anchor: anchor, offset: PicturePoint(x: uniform(-1 ... 1), y: uniform(-1 ... 1)),
        scale: uniform(0.2 ... 3))
      let face = FaceBox(
        center: PicturePoint(x: uniform(0 ... 300), y: uniform(0 ... 200)),
        size: uniform(20 ... 90), roll: uniform(-1 ... 1))
      let movement = SimilarityTransform(
        scale: uniform(0.7 ... 1.4), rotation: uniform(-1 ... 1), from: Self.zero,
        to: PicturePoint(x: uniform(-9 ... 9), y: 3))
      let before = placement.transform(width: 64, height: 32, on: face)
      let after = placement.transform(width: 64, height: 32, on: face.moved(by: movement))
      for corner in [Self.zero, PicturePoint(x: 64, y: 0), PicturePoint(x: 20, y: 32)] {
        #expect(Self.isClose(after(corner), movement(before(corner))))
      }
      #expect(abs(before.scale * 64 - face.size * placement.scale) < 1e-9)
    }
  }

  @Test func `a sticker that does not rotate stays level at its anchor`() {
    let face = FaceBox(center: PicturePoint(x: 100, y: 60), size: 40, roll: 0.5)
    let offset = PicturePoint(x: 0, y: -0.5)
    let level = StickerPlacement(anchor: .mouth, offset: offset, rotates: false)
      .transform(width: 8, height: 8, on: face)
    let center = level(PicturePoint(x: 4, y: 4))
    let mouth = face.point(u: 0.5, v: 0.79)
    #expect(Self.isClose(center, PicturePoint(x: mouth.x, y: mouth.y - 20)))
    #expect(level.rotation == 0)
    let turned = StickerPlacement(anchor: .mouth, offset: offset)
      .transform(width: 8, height: 8, on: face)
    #expect(abs(turned.rotation - 0.5) < 1e-12)
  }

  @Test func `overlap is the share of the joint area`() {
    let box = FaceBox(center: PicturePoint(x: 10, y: 10), size: 10)
    func overlap(_ x: Double, _ y: Double, _ size: Double) -> Double {
      let other = FaceBox(center: PicturePoint(x: x, y: y), size: size)
      #expect(abs(box.overlap(with: other) - other.overlap(with: box)) < 1e-12)
      return box.overlap(with: other)
    }
    #expect(overlap(10, 10, 10) == 1)
    #expect(abs(overlap(15, 10, 10) - 1 / 3) < 1e-12)
    #expect(overlap(10, 10, 5) == 0.25)
    #expect(overlap(20, 10, 10) == 0)
    #expect(overlap(40, 40, 10) == 0)
  }
}

/// The selection of faces, and the opacity of stickers on them.
@Suite struct `Face selection` {
  static func face(_ id: Int, _ size: Double) -> TrackedFace {
    .sample(id, FaceBox(center: PicturePoint(x: 100, y: 100), size: size))
  }

  @Test func `the largest face remains selected until another is clearly larger`() {
    var selection = FaceSelection(.largest)
    func select(_ sizes: [(Int, Double)]) -> [Int] {
      selection.select(sizes.map { Self.face($0.0, $0.1) }).map(\.id.value)
    }
    #expect(select([(1, 60), (2, 50)]) == [1])
    #expect(select([(1, 60), (2, 68)]) == [1])
    #expect(select([(1, 60), (2, 70)]) == [2])
    #expect(select([(1, 60), (2, 55)]) == [2])
    #expect(select([(1, 60)]) == [1])
    #expect(select([]) == [])
    #expect(select([(2, 55), (3, 56)]) == [3])
  }

  @Test func `all faces, and one face, are selected by name`() {
    let faces = [Self.face(1, 40), Self.face(2, 50)]
    var all = FaceSelection(.all)
    #expect(all.select(faces) == faces)
    var one = FaceSelection(.id(FaceID(1)))
    #expect(one.select(faces) == [faces[0]])
    #expect(one.select([faces[1]]).isEmpty)
  }

  @Test func `opacity rises and falls over the fade`() {
    var fade = FaceFade(fade: .milliseconds(150))
    let face = Self.face(1, 40)
    func opacity(_ milliseconds: Int, _ faces: [TrackedFace]) -> Double {
      fade.add(faces, at: .milliseconds(milliseconds)).first?.opacity ?? 0
    }
    #expect(opacity(0, []) == 0)
    #expect(opacity(30, [face]) == 0)
    #expect(abs(opacity(60, [face]) - 0.2) < 1e-9)
    #expect(abs(opacity(150, [face]) - 0.8) < 1e-9)
    #expect(opacity(300, [face]) == 1)
    #expect(abs(opacity(345, []) - 0.7) < 1e-9)
    #expect(abs(opacity(375, [face]) - 0.9) < 1e-9)
    #expect(opacity(900, []) == 0)
    #expect(fade.add([], at: .seconds(2)).isEmpty)
  }

  @Test func `a fade of 0 draws in the first frame and removes in the last`() {
    var fade = FaceFade(fade: .zero)
    let faces = [Self.face(2, 40), Self.face(1, 40)]
    #expect(fade.add(faces, at: .zero).map(\.opacity) == [1, 1])
    #expect(fade.add(faces, at: .zero).map(\.id.value) == [1, 2])
    #expect(fade.add([faces[0]], at: .zero).map(\.id.value) == [2])
  }
}
