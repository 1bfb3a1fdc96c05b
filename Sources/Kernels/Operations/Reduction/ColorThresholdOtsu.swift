/// A threshold of luma that follows the picture.
struct ColorThresholdOtsu: CatalogueFilter {
  static let description = FilterDescription(
    name: "colorThresholdOtsu",
    summary: "Makes bright pixels white and dark ones black, by a threshold that it finds.",
    category: .color, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "binary black white document scan",
    formula: """
      White where the luma of the premultiplied pixel is at least (t + 1 - .002) / 256, black elsewhere; \
      alpha kept. Levels are floor(256 luma + .002) within 0 ... 255; t is the least level with the \
      greatest n0 n1 (m0 - m1)^2, n0 and m0 the number and the mean level of the pixels of up to t, n1 \
      and m1 of the others (Otsu 1979)
      """)

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.reduction(Threshold(), "a threshold of the picture's luma", for: geometry)]
  }

  private struct Threshold: PixelReduction {
    /// Values at the edge of two levels are in the upper one, whatever their rounding.
    private static let margin: Float = 0.002

    struct Measurement: Sendable {
      /// The numbers of pixels per level of luma.
      var counts = BinCounts(256)
      /// The least luma of white.
      var threshold = Float.zero
    }

    func measurement(of size: FrameSize) -> Measurement { Measurement() }

    private func luma(_ pixel: SIMD4<Float>) -> Float {
      0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z
    }

    func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
      let level = min(max(0, self.luma(pixel)) * 256 + Self.margin, 255)
      measurement.counts[Int(level), .luma] += 1
    }

    func add(_ strip: Strip, isOpaque: Bool, to measurement: inout Measurement) {
      measurement.counts.add(strip, margin: Self.margin)
    }

    func merge(_ other: Measurement, into measurement: inout Measurement) {
      measurement.counts.merge(other.counts)
    }

    func finish(_ measurement: inout Measurement) {
      let counts = (0 ..< 256).map { Double(measurement.counts[$0, .luma]) }
      let total = counts.reduce(0, +)
      let sum = counts.enumerated().reduce(0) { $0 + Double($1.offset) * $1.element }
      var (dark, darkSum, best) = (0.0, 0.0, 0.0)
      for level in 0 ..< 255 {
        dark += counts[level]
        darkSum += Double(level) * counts[level]
        guard dark > 0, dark < total else { continue }
        let distance = darkSum / dark - (sum - darkSum) / (total - dark)
        let variance = dark * (total - dark) * distance * distance
        guard variance > best else { continue }
        best = variance
        measurement.threshold = (Float(level + 1) - Self.margin) / 256
      }
    }

    func replace(
      _ strip: Strip, isOpaque: Bool, of size: FrameSize, by measurement: Measurement
    ) {
      for index in 0 ..< strip.count {
        let alpha = isOpaque ? 1 : unsafe strip.alpha[index]
        let luma = unsafe self.luma(
          [strip.red[index], strip.green[index], strip.blue[index], alpha])
        let value = luma >= measurement.threshold ? alpha : 0
        unsafe strip.red[index] = value
        unsafe strip.green[index] = value
        unsafe strip.blue[index] = value
      }
    }

    func pixel(
      _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
    ) -> SIMD4<Float> {
      self.luma(own) >= measurement.threshold
        ? [own.w, own.w, own.w, own.w] : [0, 0, 0, own.w]
    }
  }
}
