import SidelightKernels
import SidelightReference
import SidelightScene
import Testing

/// Mattes by comparison with a picture of the empty scene.
@Suite struct `The plate matte` {
  static let size = FrameSize(width: 320, height: 180)

  static let backgrounds: [MatteScene.Background] = [
    .wall([0.7, 0.68, 0.64]), .room, .picture(`The guided filter`.picture(Self.size, noise: 60)),
  ]

  static func plate(_ background: MatteScene.Background) -> ColorPicture {
    MatteScene(background: background, light: .init(noise: 1), hasPerson: false, seed: 99)
      .picture(Self.size)
  }

  /// The overlap of the truth and the guided matte of the second picture of a scene.
  static func overlap(
    _ background: MatteScene.Background, _ light: MatteScene.Light,
    _ parts: PlateMatte.Parts = .all
  ) throws -> Double {
    var matte = PlateMatte(plate: Self.plate(background), parts: parts)
    var scene = MatteScene(background: background, light: light)
    _ = try matte.matte(of: scene.picture(Self.size))
    scene.seed = 2
    let picture = scene.picture(Self.size)
    let found = MatteProbe.guided(try matte.matte(of: picture), picture)
    return MatteScene.overlap(scene.truth(Self.size), found)
  }

  // Noise of a reduced frame: a quarter of the camera's.
  static let conditions: [(name: String, light: MatteScene.Light, least: Double)] = [
    ("calm", .init(noise: 1), 0.97),
    ("noise 10", .init(noise: 2.5), 0.97),
    ("shadow", .init(shadow: 0.4, noise: 1), 0.95),
    ("exposure", .init(gains: [1.22, 1.22, 1.22], noise: 1), 0.97),
    ("lamp", .init(gains: [1.2, 1.08, 0.92], noise: 1), 0.97),
    ("shake", .init(noise: 1, shake: [-2, 1]), 0.97),
  ]

  @Test(arguments: Self.backgrounds.indices, Self.conditions.indices)
  func `finds the person`(_ background: Int, _ condition: Int) throws {
    let (name, light, least) = Self.conditions[condition]
    let overlap = try Self.overlap(Self.backgrounds[background], light)
    #expect(overlap >= least, "\(name)")
  }

  @Test func `each part is worth what it costs`() throws {
    let exposed = MatteScene.Light(gains: [1.22, 1.22, 1.22], noise: 1)
    #expect(try Self.overlap(.room, exposed, [.alignment, .shadow, .regions]) <= 0.5)
    let shaded = MatteScene.Light(shadow: 0.4, noise: 1)
    #expect(try Self.overlap(.room, shaded, [.alignment, .exposure, .regions]) <= 0.85)
    let shaken = MatteScene.Light(noise: 1, shake: [-2, 2])
    #expect(try Self.overlap(.room, shaken, [.exposure, .shadow, .regions]) <= 0.9)
  }

  @Test func `an empty room has no foreground`() throws {
    for background in Self.backgrounds {
      var matte = PlateMatte(plate: Self.plate(background))
      let scene = MatteScene(
        background: background, light: .init(gains: [0.8, 0.85, 0.9], noise: 2.5),
        hasPerson: false)
      let found = try matte.matte(of: scene.picture(Self.size))
      #expect(found.isSure)
      #expect(found.values.allSatisfy { $0 < 0.5 })
    }
  }

  @Test func `another scene is not sure`() throws {
    var matte = PlateMatte(plate: Self.plate(.room))
    let flat = ColorPicture(
      width: 320, height: 180,
      samples: (0 ..< 3 * Self.size.pixelCount).map { $0 % 3 == 0 ? 250 : 5 })
    #expect(try !matte.matte(of: flat).isSure)
  }

  @Test func `a picture of another size is an error`() {
    var matte = PlateMatte(plate: Self.plate(.room))
    let small = ColorPicture(width: 1, height: 1, samples: [1, 2, 3])
    #expect(throws: PlateMatte.SizeMismatch.self) { try matte.matte(of: small) }
  }

  @Test(arguments: [(1, 1), (2, 1), (1, 5), (3, 3), (17, 2)])
  func `tiny pictures have mattes`(_ width: Int, _ height: Int) throws {
    let size = FrameSize(width: width, height: height)
    let picture = MatteScene(background: .room).picture(size)
    var matte = PlateMatte(plate: picture)
    #expect(try matte.matte(of: picture).values.allSatisfy { $0 == 0 })
  }
}

/// Small regions of mattes, and their smoothing over time.
@Suite struct `Regions of a matte` {
  /// A matte from rows of characters: `#` is foreground.
  static func clean(_ rows: [String], minRegion: Double, minHole: Double) -> [String] {
    var values = rows.flatMap { $0.map { $0 == "#" ? Float(1) : 0 } }
    let width = rows[0].count
    MatteRegions.clean(
      &values, width: width, height: rows.count, minRegion: minRegion, minHole: minHole)
    return rows.indices.map { row in
      String(values[row * width ..< (row + 1) * width].map { $0 >= 0.5 ? "#" : "." })
    }
  }

  @Test func `small regions are dropped and small holes filled`() {
    let found = Self.clean(
      [
        "..........",
        ".#####..#.",
        ".#...#....",
        ".#.#.#...#",
        ".#####..#.",
        "........#.",
      ], minRegion: 4 / 60.0, minHole: 9 / 60.0)
    #expect(
      found == [
        "..........",
        ".#####....",
        ".#####....",
        ".#####....",
        ".#####....",
        "..........",
      ])
  }

  @Test func `regions meet at corners, and holes do not leave through them`() {
    let rows = [
      "#....",
      ".###.",
      ".#.#.",
      "..##.",
      ".....",
    ]
    let found = Self.clean(rows, minRegion: 8 / 25.0, minHole: 2 / 25.0)
    #expect(found == ["#....", ".###.", ".###.", "..##.", "....."])
    // The background at the edge is not a hole, however small.
    #expect(Self.clean(["#.", "##"], minRegion: 0, minHole: 1) == ["#.", "##"])
  }

  @Test func `a still matte is smoothed, and a moving edge is not`() {
    let still = ColorPicture(width: 1, height: 1, samples: [100, 100, 100])
    let moved = ColorPicture(width: 1, height: 1, samples: [180, 20, 100])
    func matte(_ value: Float) -> MatteEstimate {
      MatteEstimate(width: 1, height: 1, values: [value])
    }
    var smoothing = MatteSmoothing()
    #expect(smoothing.smooth(matte(1), of: still).values == [1])
    #expect(abs(smoothing.smooth(matte(0), of: still).values[0] - 0.7) < 1e-6)
    #expect(smoothing.smooth(matte(0), of: moved).values == [0])
    // 10 levels weigh 1/e.
    let near = ColorPicture(width: 1, height: 1, samples: [190, 30, 110])
    #expect(abs(smoothing.smooth(matte(1), of: near).values[0] - (1 - 0.7 * 0.36788)) < 1e-4)
  }
}
