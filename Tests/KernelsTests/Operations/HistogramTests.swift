import SidelightKernelLanguage
import SidelightKernels
import SidelightReference
import Testing

/// Results of `histogram` and `motion`.
@Suite struct `Histograms and motion` {
  static func analyzer(
    _ name: String, _ parameters: [String: ParameterValue], _ geometry: FrameGeometry
  ) throws -> any FrameAnalyzer {
    let plan = try FilterCatalogue.builtIn.resolve([.filter(name, parameters)]).plan(for: geometry)
    return try #require(plan.analyses.first).analysis.makeAnalyzer()
  }

  static func vector(_ found: [String: AnalysisValue], _ name: String) throws -> [Double] {
    guard case .vector(let values) = found[name] else { throw AnalysisTests.NoNumber() }
    return values
  }

  /// The intervals of a frame's displayed colours, counted pixel by pixel in double precision.
  static func counts(_ frame: Frame, bins: Int) -> [[Double]] {
    let picture = ReferencePicture(frame)
    var counts = Array(repeating: Array(repeating: 0.0, count: bins), count: 4)
    for pixel in picture.pixels {
      let luma = 0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z
      for (channel, value) in [pixel.x, pixel.y, pixel.z, luma].enumerated() {
        counts[channel][min(max(Int((value * Double(bins)).rounded(.down)), 0), bins - 1)] += 1
      }
    }
    return counts
  }

  @Test(arguments: PixelFormat.allCases)
  func `a histogram has the shares of its formula, for every format`(
    _ format: PixelFormat
  ) async throws {
    for color in FormatSweep.colors(format) where color.alpha != .premultiplied {
      for size in FormatSweep.sizes {
        let geometry = FrameGeometry(format: format, size: size, color: color)
        let frame = try TestFrame.make(geometry, seed: 3, padding: .ragged)
        // Edges of 37 intervals are not levels.
        var analyzer = try Self.analyzer("histogram", ["bins": .number(37)], geometry)
        let found = try await analyzer.analyze(frame, at: FrameTime())
        let total = Double(size.pixelCount)
        let expected = Self.counts(frame, bins: 37)
        for (channel, name) in ["red", "green", "blue", "luma"].enumerated() {
          let shares = try Self.vector(found, name)
          #expect(shares.count == 37)
          #expect(abs(shares.reduce(0, +) - 1) < 1e-9)
          // A value within a float's rounding of an edge may count on its other side.
          let moved = zip(shares, expected[channel]).reduce(0) { $0 + abs($1.0 - $1.1 / total) }
          #expect(moved <= max(2 / total, 0.002), "\(name), \(geometry)")
        }
      }
    }
  }

  @Test func `clipped pixels are those with a channel at an end`() async throws {
    let size = FrameSize(width: 300, height: 2)
    let geometry = FrameGeometry(format: .rgb24, size: size)
    // Three equal groups of columns: black and grey, grey, grey and white.
    let frame = try TestFrame.make(geometry, padding: .aligned) { _, x, _, channel in
      switch x / 100 {
      case 0: channel == 1 ? 0 : 90
      case 1: 128
      default: channel == 2 ? 255 : 90
      }
    }
    var analyzer = try Self.analyzer("histogram", [:], geometry)
    let found = try await analyzer.analyze(frame, at: FrameTime())
    #expect(abs(try AnalysisTests.number(found, "clippedLow") - 1.0 / 3) < 1e-12)
    #expect(abs(try AnalysisTests.number(found, "clippedHigh") - 1.0 / 3) < 1e-12)
  }

  /// A grey frame with brighter rectangles.
  static func frame(_ size: FrameSize, _ bright: [(x: Range<Int>, y: Range<Int>)]) throws -> Frame {
    try TestFrame.make(
      FrameGeometry(format: .gray8, size: size), padding: .aligned
    ) { _, x, y, _ in
      bright.contains { $0.x.contains(x) && $0.y.contains(y) } ? 200 : 50
    }
  }

  static func regions(_ found: [String: AnalysisValue]) throws -> [(Region, Double)] {
    guard case .list(let values) = found["motion"] else { throw AnalysisTests.NoNumber() }
    return values.compactMap { value in
      guard case .region(let region, let confidence, _) = value else { return nil }
      return (region, confidence)
    }
  }

  @Test func `motion finds each part that changes, larger ones first`() async throws {
    let size = FrameSize(width: 161, height: 90)
    let geometry = FrameGeometry(format: .gray8, size: size)
    var analyzer = try Self.analyzer("motion", [:], geometry)
    let still = try Self.frame(size, [])
    #expect(try await analyzer.analyze(still, at: FrameTime()).isEmpty)
    let moved = try Self.frame(size, [(x: 0 ..< 10, y: 0 ..< 10), (x: 80 ..< 120, y: 40 ..< 60)])
    let found = try await analyzer.analyze(moved, at: FrameTime(index: 2))
    let grid = try Self.vector(found, "grid")
    #expect(grid.count == 16 * 9)
    #expect(abs(grid[0] - 150.0 / 255) < 1e-12 && grid[20] == 0)
    let regions = try Self.regions(found)
    #expect(regions.count == 2)
    // Columns 8 ... 11, of 10 or 11 pixels, and rows 4 and 5.
    let largest = try #require(regions.first).0
    #expect(largest.origin.x.value == 80 && largest.origin.y.value == 40)
    #expect(largest.width.value == 40 && largest.height.value == 20)
    #expect(regions[1].0.origin.x.value == 0 && regions[1].0.width.value == 10)
    #expect(regions[1].1 == 1)
    #expect(abs(try AnalysisTests.number(found, "moving") - 9.0 / 144) < 1e-12)
    // The picture stays the same from then on.
    let after = try await analyzer.analyze(moved, at: FrameTime(index: 4))
    #expect(try AnalysisTests.number(after, "moving") == 0)
    #expect(try Self.regions(after).isEmpty)
  }

  @Test func `a change below the threshold is no motion, and another size starts again`()
    async throws
  {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 40, height: 20))
    var analyzer = try Self.analyzer("motion", ["threshold": .number(0.1)], geometry)
    _ = try await analyzer.analyze(try TestFrame.flat(geometry, 100), at: FrameTime())
    let small = try await analyzer.analyze(try TestFrame.flat(geometry, 125), at: FrameTime())
    #expect(try AnalysisTests.number(small, "moving") == 0)
    let large = try await analyzer.analyze(try TestFrame.flat(geometry, 151), at: FrameTime())
    #expect(try AnalysisTests.number(large, "moving") == 1)
    #expect(try Self.regions(large).count == 1)
    let other = FrameGeometry(format: .gray8, size: FrameSize(width: 3, height: 2))
    #expect(
      try await analyzer.analyze(try TestFrame.flat(other, 0), at: FrameTime()).isEmpty)
    // Fewer pixels than cells: one cell per pixel.
    let tiny = try await analyzer.analyze(try TestFrame.flat(other, 255), at: FrameTime())
    #expect(try Self.vector(tiny, "grid") == [1, 1, 1, 1, 1, 1])
  }
}
