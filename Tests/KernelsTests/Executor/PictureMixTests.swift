import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Mixes of two pictures in a transition, next to a naive oracle.
@Suite struct `The mix of two pictures` {
  static let styles: [PipelineTransition.Style] = [
    .fade, .wipe(.right, softness: 0.25), .wipe(.left, softness: 0), .wipe(.down, softness: 1),
    .wipe(.up, softness: 0.1), .dissolve(softness: 0.3, seed: 7), .dissolve(softness: 0),
  ]
  static let sizes = [(1, 1), (2, 3), (33, 17), (70, 9)]

  static func mix(
    _ earlier: Frame, _ later: Frame, _ mix: PictureMix, bands: Int = 1
  ) async throws -> [[UInt8]] {
    let compute = ComputePool(threadCount: bands)
    defer { compute.shutdown() }
    let pool = BufferPool()
    let executor = PlanExecutor(
      pool: pool, compute: compute,
      fixedBands: BandRunner(maxBands: bands, minBandNanoseconds: 0))
    let copy = try await executor.run(
      FilterCatalogue.builtIn.resolve([]).plan(for: later.geometry), on: later,
      into: try pool.makeFrame(later.geometry))
    return try await executor.mix(
      earlier,
      into: MutableFrame(layout: copy.layout, color: later.color, buffer: copy.buffer), by: mix
    ).rows
  }

  static func geometry(
    _ format: PixelFormat, _ width: Int, _ height: Int, _ alpha: AlphaMode = .straight
  ) -> FrameGeometry {
    FrameGeometry(
      format: format, size: FrameSize(width: width, height: height),
      color: ColorDescription(alpha: alpha))
  }

  /// A black and a white picture.
  static func ends(
    _ width: Int, _ height: Int, _ format: PixelFormat = .gray8
  ) throws -> (dark: Frame, light: Frame) {
    let geometry = Self.geometry(format, width, height)
    return (try TestFrame.flat(geometry, 0), try TestFrame.flat(geometry, 255))
  }

  /// The weight of a fade or wipe at a sample, by the formula.
  static func weight(_ mix: PictureMix, x: Int, y: Int, width: Int, height: Int) -> Double {
    let (direction, softness): (PipelineTransition.WipeDirection, Double)
    switch mix.style {
    case .fade, .dissolve: return mix.progress
    case .wipe(let wipe, let soft): (direction, softness) = (wipe, soft)
    }
    let (u, v) = ((Double(x) + 0.5) / Double(width), (Double(y) + 0.5) / Double(height))
    let place =
      switch direction {
      case .right: u
      case .left: 1 - u
      case .down: v
      case .up: 1 - v
      }
    guard softness > 0 else { return place < mix.progress ? 1 : 0 }
    return min(max((mix.progress * (1 + softness) - place) / softness, 0), 1)
  }

  @Test(arguments: PixelFormat.allCases)
  func `fades and wipes follow their formula`(_ format: PixelFormat) async throws {
    for (width, height) in Self.sizes {
      let geometry = Self.geometry(format, width, height, .opaque)
      let first = try TestFrame.make(geometry, seed: 1)
      let second = try TestFrame.make(geometry, seed: 2, padding: .ragged)
      for style in Self.styles.dropLast(2) {
        for progress in [0.1, 0.37, 0.5, 0.93] {
          let mix = PictureMix(style: style, progress: progress)
          Self.compare(
            try await Self.mix(first, second, mix), first, second, mix,
            "\(style) \(progress) \(width)x\(height)")
        }
      }
    }
  }

  private static func compare(
    _ result: [[UInt8]], _ first: Frame, _ second: Frame, _ mix: PictureMix, _ comment: Comment
  ) {
    let format = first.format
    var index = 0
    for plane in 0 ..< format.planeCount {
      let height = format.rowCount(plane: plane, height: first.size.height)
      let isChroma = format.isYUV && plane > 0
      let width = isChroma ? (first.size.width + 1) / 2 : first.size.width
      for y in 0 ..< height {
        let row = result[index]
        let step = row.count / width
        let (a, b) = (first.rows[index], second.rows[index])
        for sample in row.indices {
          let weight = Self.weight(mix, x: sample / step, y: y, width: width, height: height)
          let expected = (1 - weight) * Double(a[sample]) + weight * Double(b[sample])
          // A hard edge may be off by one sample, where a centre lies on it.
          let isHard = if case .wipe(_, softness: 0) = mix.style { true } else { false }
          if isHard, abs(Double(row[sample]) - expected) > 1 {
            #expect(row[sample] == a[sample] || row[sample] == b[sample], comment)
          } else {
            #expect(abs(Double(row[sample]) - expected) <= 1.2, comment)
          }
        }
        index += 1
      }
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `the ends are the pictures, byte for byte, and bands change nothing`(
    _ format: PixelFormat
  ) async throws {
    for (width, height) in Self.sizes {
      let geometry = Self.geometry(format, width, height)
      let first = try TestFrame.make(geometry, seed: 3)
      let second = try TestFrame.make(geometry, seed: 4)
      for style in Self.styles {
        let ends = try await [0.0, 1.0].asyncMap {
          try await Self.mix(first, second, PictureMix(style: style, progress: $0))
        }
        #expect(ends[0] == first.rows && ends[1] == second.rows, "\(style)")
        let middle = PictureMix(style: style, progress: 0.45)
        let one = try await Self.mix(first, second, middle)
        let several = try await Self.mix(first, second, middle, bands: 3)
        #expect(one == several, "\(style)")
      }
    }
  }

  @Test(arguments: styles)
  func `no sample goes back towards the earlier picture`(
    _ style: PipelineTransition.Style
  ) async throws {
    let (dark, light) = try Self.ends(64, 40)
    var last = dark.rows
    for step in 0 ... 20 {
      let rows = try await Self.mix(
        dark, light, PictureMix(style: style, progress: Double(step) / 20))
      #expect(zip(rows.joined(), last.joined()).allSatisfy { $0 >= $1 })
      last = rows
    }
    #expect(last == light.rows)
  }

  @Test func `the edge of a wipe moves at an even pace`() async throws {
    let (dark, light) = try Self.ends(100, 4)
    for step in 0 ... 10 {
      let rows = try await Self.mix(
        dark, light, PictureMix(style: .wipe(.right, softness: 0), progress: Double(step) / 10))
      #expect(rows.allSatisfy { $0 == (0 ..< 100).map { $0 < 10 * step ? 255 : 0 } })
    }
  }

  @Test func `a dissolve depends on the seed alone, and changes cells of 2x2 pixels`() async throws
  {
    let (dark, light) = try Self.ends(64, 64)
    func rows(_ progress: Double, seed: UInt32) async throws -> [[UInt8]] {
      try await Self.mix(
        dark, light, PictureMix(style: .dissolve(softness: 0, seed: seed), progress: progress))
    }
    let half = try await rows(0.5, seed: 1)
    #expect(half == (try await rows(0.5, seed: 1)))
    #expect(half != (try await rows(0.5, seed: 2)))
    for y in 0 ..< 64 {
      for x in 0 ..< 64 { #expect(half[y][x] == half[y & ~1][x & ~1]) }
    }
    for progress in [0.1, 0.25, 0.5, 0.9] {
      let changed = try await rows(progress, seed: 3).joined().count { $0 == 255 }
      // 1024 cells; four standard deviations.
      let deviation = (progress * (1 - progress) / 1024).squareRoot()
      #expect(abs(Double(changed) / 4096 - progress) < 4 * deviation)
    }
  }

  @Test func `chroma dissolves together with the pixels that share it`() async throws {
    let (dark, light) = try Self.ends(30, 22, .i420)
    let rows = try await Self.mix(
      dark, light, PictureMix(style: .dissolve(softness: 0.4, seed: 9), progress: 0.5))
    for y in 0 ..< 11 {
      for x in 0 ..< 15 {
        #expect(rows[2 * y][2 * x] == rows[22 + y][x] && rows[22 + y][x] == rows[33 + y][x])
      }
    }
  }

  @Test func `a clear pixel has no share in the colour of a fade`() async throws {
    var first = try BufferPool().makeFrame(
      FrameGeometry(format: .bgra8, size: FrameSize(width: 20, height: 1)))
    var second = try BufferPool().makeFrame(
      FrameGeometry(format: .bgra8, size: FrameSize(width: 20, height: 1)))
    for (pixel, alphas) in [(0, (255, 0)), (1, (0, 255)), (2, (200, 100)), (3, (0, 0))] {
      first.set(pixel, [10, 20, 30, UInt8(alphas.0)])
      second.set(pixel, [200, 100, 90, UInt8(alphas.1)])
    }
    for pixel in 4 ..< 20 {
      first.set(pixel, [0, 0, 0, 255])
      second.set(pixel, [100, 100, 100, 255])
    }
    let row = try await Self.mix(
      first.finish(), second.finish(), PictureMix(style: .fade, progress: 0.5))[0]
    #expect(Array(row[0 ..< 4]) == [10, 20, 30, 128])
    #expect(Array(row[4 ..< 8]) == [200, 100, 90, 128])
    // (200 * 10 + 100 * 200) / 300, and so on.
    #expect(Array(row[8 ..< 12]) == [73, 47, 50, 150])
    #expect(row[15] == 0)
    #expect(Array(row[16 ..< 20]) == [50, 50, 50, 255])
  }
}

extension Frame {
  /// The rows of all planes, without padding.
  fileprivate var rows: [[UInt8]] {
    zip(self.samples, PlaneShape.planes(self.format, self.size)).flatMap { samples, shape in
      (0 ..< shape.height).map { Array(samples[$0 * shape.samples ..< ($0 + 1) * shape.samples]) }
    }
  }
}

extension MutableFrame {
  fileprivate mutating func set(_ pixel: Int, _ samples: [UInt8]) {
    self.withMutableRow(0) { row in
      for (index, sample) in samples.enumerated() {
        row.storeBytes(of: sample, toByteOffset: 4 * pixel + index, as: UInt8.self)
      }
    }
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(
    _ body: (Element) async throws -> Result
  ) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
