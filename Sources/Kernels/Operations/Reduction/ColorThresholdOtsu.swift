/// A threshold of luma that follows the picture.
struct ColorThresholdOtsu: CatalogueFilter {
  static let description = FilterDescription(
    name: "colorThresholdOtsu",
    summary: "Makes bright pixels white and dark ones black, by a threshold that it finds.",
    category: .color, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "binary black white document scan",
    formula: """
      White where the level of the luma exceeds t. Levels are round(255 luma); t is the least level \
      with the greatest n0 n1 (m0 - m1)^2, n0 and m0 the number and the mean level of the pixels of \
      up to t, n1 and m1 of the others (Otsu 1979)
      """)

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(Threshold(), "a threshold of the picture's luma", for: geometry)]
  }

  private struct Threshold: PixelReduction {
    struct Measurement: Sendable {
      var counts = Array(repeating: 0, count: 256)
      var threshold = 0
    }

    func measurement(of size: FrameSize) -> Measurement { Measurement() }

    private func level(_ pixel: SIMD4<Float>) -> Int {
      let luma = 0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z
      return pixel.w > 0 ? Int((min(max(luma / pixel.w, 0), 1) * 255).rounded()) : 0
    }

    func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
      measurement.counts[self.level(pixel)] += 1
    }

    func merge(_ other: Measurement, into measurement: inout Measurement) {
      for level in 0 ..< 256 { measurement.counts[level] += other.counts[level] }
    }

    func finish(_ measurement: inout Measurement) {
      let counts = measurement.counts.map(Double.init)
      let total = counts.reduce(0, +)
      let sum = counts.enumerated().reduce(0) { $0 + Double($1.offset) * $1.element }
      var (dark, darkSum, best) = (0.0, 0.0, 0.0)
      for level in 0 ..< 255 {
        dark += counts[level]
        darkSum += Double(level) * counts[level]
        guard dark > 0, dark < total else { continue }
        let distance = darkSum / dark - (sum - darkSum) / (total - dark)
        let variance = dark * (total - dark) * distance * distance
        if variance > best { (best, measurement.threshold) = (variance, level) }
      }
    }

    func pixel(
      _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
    ) -> SIMD4<Float> {
      self.level(own) > measurement.threshold
        ? [own.w, own.w, own.w, own.w] : [0, 0, 0, own.w]
    }
  }
}
