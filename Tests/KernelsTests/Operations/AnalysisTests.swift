import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Results of analyses, and their names in a plan.
@Suite struct AnalysisTests {
  struct NoNumber: Error {}

  static func number(_ found: [String: AnalysisValue], _ name: String) throws -> Double {
    guard case .number(let value) = found[name] else { throw NoNumber() }
    return value
  }

  static func histogram(_ found: [String: AnalysisValue]) throws -> [Double] {
    guard case .vector(let values) = found["histogram"] else { throw NoNumber() }
    return values
  }

  static func planned(
    _ pipeline: Pipeline, _ geometry: FrameGeometry
  ) throws -> [PlannedAnalysis] {
    try FilterCatalogue.builtIn.resolve(pipeline).plan(for: geometry).analyses
  }

  static func analyzer(_ geometry: FrameGeometry) throws -> any FrameAnalyzer {
    try #require(try Self.planned([.filter("brightnessStatistics")], geometry).first)
      .analysis.makeAnalyzer()
  }

  /// The documented formula in double precision, pixel by pixel; RGB luma is rounded to a level.
  static func luma(_ frame: Frame) -> [Double] {
    let step = PlaneShape.planes(frame.format, frame.size)[0].step
    let isVideo = frame.format.isYUV && frame.color.range == .video
    let bytes = frame.samples[0].map { Double($0) }
    return (0 ..< frame.size.pixelCount).map { pixel in
      if step == 1 {
        return isVideo ? (min(max(bytes[pixel], 16), 235) - 16) / 219 : bytes[pixel] / 255
      }
      let first = pixel * step
      let (one, two, three) = (bytes[first], bytes[first + 1], bytes[first + 2])
      let (red, blue) = frame.format == .bgra8 ? (three, one) : (one, three)
      return (0.2126 * red + 0.7152 * two + 0.0722 * blue).rounded() / 255
    }
  }

  @Test(arguments: PixelFormat.allCases)
  func `statistics are those of the formula, for every format`(_ format: PixelFormat) async throws {
    for color in FormatSweep.colors(format) {
      for size in FormatSweep.sizes {
        let geometry = FrameGeometry(format: format, size: size, color: color)
        let frames = try (0 ..< 2).map {
          try TestFrame.make(geometry, seed: UInt64($0), padding: .ragged)
        }
        var analyzer = try Self.analyzer(geometry)
        let first = try await analyzer.analyze(frames[0], at: FrameTime(index: 0))
        let second = try await analyzer.analyze(frames[1], at: FrameTime(index: 5))
        #expect(first["motion"] == nil)
        let before = Self.luma(frames[0])
        let luma = Self.luma(frames[1])
        let count = Double(luma.count)
        let mean = luma.reduce(0, +) / count
        let variance = luma.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
        let motion = zip(luma, before).reduce(0) { $0 + abs($1.0 - $1.1) } / count
        // A luma that lies between two levels may be rounded to either, in a few pixels.
        let tolerance = 0.0005
        #expect(abs(try Self.number(second, "mean") - mean) < tolerance)
        #expect(abs(try Self.number(second, "contrast") - variance.squareRoot()) < 2 * tolerance)
        #expect(abs(try Self.number(second, "motion") - motion) < tolerance)
        let histogram = try Self.histogram(second)
        #expect(histogram.count == 16)
        #expect(abs(histogram.reduce(0, +) - 1) < 1e-9)
        if format.isYUV || format == .gray8 {
          for bin in 0 ..< 16 {
            let share = luma.count { min(Int($0 * 16), 15) == bin }
            #expect(abs(histogram[bin] - Double(share) / count) < 1e-9)
          }
        }
      }
    }
  }

  @Test func `the range determines black, white and the values beyond`() async throws {
    let size = FrameSize(width: 31, height: 18)
    let cases: [(YUVRange, UInt8, Double)] = [
      (.video, 16, 0), (.video, 235, 1), (.video, 3, 0), (.video, 250, 1),
      (.video, 125, 109.0 / 219), (.full, 0, 0), (.full, 255, 1), (.full, 16, 16.0 / 255),
    ]
    for (range, value, mean) in cases {
      let geometry = FrameGeometry(
        format: .i420, size: size, color: ColorDescription(range: range))
      var analyzer = try Self.analyzer(geometry)
      let frame = try TestFrame.flat(geometry, value)
      let found = try await analyzer.analyze(frame, at: FrameTime())
      #expect(abs(try Self.number(found, "mean") - mean) < 1e-12)
      #expect(try Self.number(found, "contrast") < 1e-6)
      let bin = min(Int(mean * 16), 15)
      #expect(abs(try Self.histogram(found)[bin] - 1) < 1e-12)
    }
  }

  @Test func `motion is relative to the previous frame, and restarts with another size`()
    async throws
  {
    let gray = FrameGeometry(format: .gray8, size: FrameSize(width: 8, height: 8))
    let other = FrameGeometry(format: .gray8, size: FrameSize(width: 9, height: 8))
    var analyzer = try Self.analyzer(gray)
    func look(_ geometry: FrameGeometry, _ value: UInt8) async throws -> AnalysisValue? {
      try await analyzer.analyze(try TestFrame.flat(geometry, value), at: FrameTime())["motion"]
    }
    #expect(try await look(gray, 0) == nil)
    #expect(try await look(gray, 51) == .number(0.2))
    #expect(try await look(gray, 51) == .number(0))
    #expect(try await look(other, 51) == nil)
    #expect(try await look(other, 0) == .number(0.2))
  }

  @Test func `sessions do not see each other's frames`() async throws {
    let gray = FrameGeometry(format: .gray8, size: FrameSize(width: 8, height: 8))
    let analysis = try #require(
      try Self.planned([.filter("brightnessStatistics")], gray).first
    ).analysis
    var (one, two) = (analysis.makeAnalyzer(), analysis.makeAnalyzer())
    let dark = try TestFrame.flat(gray, 0)
    let bright = try TestFrame.flat(gray, 255)
    _ = try await one.analyze(dark, at: FrameTime())
    #expect(try await two.analyze(bright, at: FrameTime())["motion"] == nil)
    #expect(try await one.analyze(bright, at: FrameTime())["motion"] == .number(1))
  }

  @Test func `a plan lists the active analyses`() throws {
    let gray = FrameGeometry(format: .gray8, size: FrameSize(width: 8, height: 8))
    func look(_ id: String? = nil, isActive: Bool = true) -> Stage {
      Stage(
        .filter(FilterCall(name: "brightnessStatistics", parameters: ["everyNth": .number(7)])),
        id: id, isActive: isActive)
    }
    let inner = Stage(.pipeline([.filter("sepiaTone"), look(), look("light")]))
    let off = Stage(.pipeline([look("dark")]), isActive: false)
    let planned = try Self.planned(
      [look(isActive: false), look(), inner, off, look("last")], gray)
    #expect(
      planned.map(\.stage) == ["stages[1]", "stages[2].pipeline.stages[1]", "light", "last"])
    #expect(planned.allSatisfy { $0.filter == "brightnessStatistics" && $0.everyNth == 7 })
  }
}
