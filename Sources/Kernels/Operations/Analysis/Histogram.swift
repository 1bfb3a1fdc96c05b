import CKernels

/// An analysis of the distribution of colours.
struct Histogram: ArgumentFilter {
  static let description = FilterDescription(
    name: "histogram",
    summary: "Measures how often each brightness occurs, by channel. Does not change frames.",
    category: .analysis, reach: .frame, fidelity: .formula,
    formula: """
      red, green, blue and luma: the shares of pixels in each of bins equal intervals of 0 ... 1, \
      bin floor(bins c), with 1 and more in the last and less than 0 in the first. c is the \
      displayed R'G'B' of each pixel, decoded from YUV formats by the frame's matrix and range, each \
      pixel with the chroma sample that it shares; luma is .2126 r + .7152 g + .0722 b. Alpha is \
      ignored. clippedLow and clippedHigh: the shares of pixels with a channel at or below 0, at or \
      above 1
      """,
    parameters: [
      ParameterDescription(
        "bins", .number, default: .number(64), slider: 16 ... 256, limits: 2 ... 256,
        "The number of intervals, rounded."),
      ParameterDescription(
        "everyNth", .number, default: .number(5), slider: 1 ... 30, limits: 1 ... 100_000,
        "The interval in frames: 5 analyses every fifth frame."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let analysis = Analysis(
      binCount: Int(self.arguments.number("bins").rounded()),
      everyNth: Int(self.arguments.number("everyNth").rounded()))
    return [.analysis(analysis)]
  }

  private struct Analysis: FrameAnalysis {
    let binCount: Int
    let everyNth: Int

    func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
      let counts = ColorCounts(frame, binCount: self.binCount)
      let total = Double(frame.size.pixelCount)
      var found: [String: AnalysisValue] = [
        "clippedLow": .number(Double(counts.clippedLow) / total),
        "clippedHigh": .number(Double(counts.clippedHigh) / total),
      ]
      for (index, name) in ["red", "green", "blue", "luma"].enumerated() {
        found[name] = .vector(counts.channel(index).map { Double($0) / total })
      }
      return found
    }
  }
}

/// The number of a frame's pixels per interval of red, green, blue and luma.
struct ColorCounts {
  /// The pixels with a channel at or below 0.
  private(set) var clippedLow = 0
  /// The pixels with a channel at or above 1.
  private(set) var clippedHigh = 0
  private let binCount: Int
  /// The counts of red, then of green, blue and luma.
  private var counts: [UInt32]

  /// Counts the pixels of a frame of any format.
  ///
  /// - Parameter binCount: The number of intervals, at least 2.
  init(_ frame: Frame, binCount: Int) {
    self.binCount = binCount
    self.counts = Array(repeating: 0, count: 4 * binCount)
    let raster = Raster(frame)
    let rows = unsafe sl_rows_current()
    let store = unsafe StripStore(raster.view, YUVConversion(frame.color), rows.pointee)
    let memory = StripMemory(strips: 1)
    var strip = memory.strip(0, time: FrameTime())
    var clipped = sl_clipped(low: 0, high: 0)
    unsafe self.counts.withUnsafeMutableBufferPointer { counts in
      for y in 0 ..< frame.size.height {
        for x in stride(from: 0, to: frame.size.width, by: Strip.capacity) {
          strip.y = y
          strip.x = x
          strip.count = min(Strip.capacity, frame.size.width - x)
          store.load(strip)
          unsafe rows.pointee.count_colors(
            strip.red, strip.green, strip.blue, strip.count, binCount,
            counts.baseAddress.unsafelyUnwrapped, &clipped)
        }
      }
    }
    // The view above is addresses without ownership.
    withExtendedLifetime(raster) {}
    self.clippedLow = Int(clipped.low)
    self.clippedHigh = Int(clipped.high)
  }

  /// Returns the counts of a channel: 0 is red, then green, blue and luma.
  func channel(_ index: Int) -> ArraySlice<UInt32> {
    self.counts[index * self.binCount ..< (index + 1) * self.binCount]
  }
}
