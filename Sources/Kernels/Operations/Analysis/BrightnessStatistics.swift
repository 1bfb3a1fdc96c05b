/// An analysis of brightness, contrast and motion.
struct BrightnessStatistics: ArgumentFilter {
  static let description = FilterDescription(
    name: "brightnessStatistics",
    summary: "Measures brightness, contrast, the histogram and motion. Does not change frames.",
    category: .analysis, reach: .frame, fidelity: .formula,
    formula: """
      Y is the luma plane where the format has one, clamped to black ... white (16 ... 235 in \
      video range); else .2126 r + .7152 g + .0722 b of the stored samples, rounded to a level. y \
      = (Y - black) / (white - black) for every pixel; alpha is ignored. mean: the mean of y. \
      contrast: its standard deviation. histogram: the shares of 16 bins, bin floor(16 y), with \
      white in the last. motion: the mean of |y - y'|, y' of the frame analysed before, if there \
      was one of the same size and range
      """,
    parameters: [
      ParameterDescription(
        "everyNth", .number, default: .number(5), slider: 1 ... 30, limits: 1 ... 100_000,
        "The interval in frames: 5 analyses every fifth frame.")
    ])

  /// The number of equal bins from black to white.
  static let binCount = 16

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.analysis(Statistics(everyNth: Int(self.arguments.number("everyNth").rounded())))]
  }

  private struct Statistics: FrameAnalysis {
    let everyNth: Int

    func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
      BrightnessStatistics.measure(LumaLevels(frame))
    }

    func makeAnalyzer() -> any FrameAnalyzer { Analyzer() }
  }

  private struct Analyzer: FrameAnalyzer {
    private var previous: LumaLevels?

    mutating func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
      let levels = LumaLevels(frame)
      var found = BrightnessStatistics.measure(levels)
      if let difference = self.previous.flatMap({ levels.meanDifference(from: $0) }) {
        found["motion"] = .number(difference / Double(levels.white - levels.black))
      }
      self.previous = levels
      return found
    }
  }

  private static func measure(_ levels: LumaLevels) -> [String: AnalysisValue] {
    let total = Double(levels.size.pixelCount)
    let span = levels.white - levels.black
    var (mean, square) = (0.0, 0.0)
    var histogram = Array(repeating: 0.0, count: Self.binCount)
    for (level, count) in levels.counts.enumerated() where count > 0 {
      let step = level - levels.black
      let (y, share) = (Double(step) / Double(span), Double(count) / total)
      mean += y * share
      square += y * y * share
      histogram[min(Self.binCount * step / span, Self.binCount - 1)] += share
    }
    return [
      "mean": .number(mean), "contrast": .number(max(0, square - mean * mean).squareRoot()),
      "histogram": .vector(histogram),
    ]
  }
}
