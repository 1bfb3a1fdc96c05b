import SidelightKernels

/// A random pipeline on a random frame, over all properties of pipelines and frames. The same seed
/// gives the same chain.
struct RandomChain: CustomStringConvertible {
  let seed: UInt64
  let pipeline: Pipeline
  let geometry: FrameGeometry
  let padding: TestFrame.Padding
  let index: UInt64
  /// Whether results can be compared with the reference: no stage after the first is discontinuous.
  let isSmooth: Bool
  /// The permitted difference from the reference in levels: 1, or 2 if the chain has a sharpening
  /// or a Gaussian that works on a reduced picture (standard deviations from 4.8 on).
  let tolerance: Double

  /// - Parameters:
  ///   - seed: The number of the chain.
  ///   - size: The frame's size; `nil` selects a small random size.
  ///   - smoothly: Whether only the first stage may be discontinuous, and gains are moderate.
  init(seed: UInt64, size: FrameSize? = nil, smoothly: Bool = true) {
    var random = TestRandom(seed: seed &* 0x2545_f491_4f6c_dd1d)
    self.seed = seed
    let size = size ?? Self.size(&random)
    self.geometry = FrameGeometry(
      format: Self.pick(PixelFormat.allCases, &random), size: size,
      color: ColorDescription(
        range: Self.pick(YUVRange.allCases, &random),
        matrix: Self.pick(YUVMatrix.allCases, &random),
        alpha: Self.pick(AlphaMode.allCases, &random)))
    self.padding = Self.pick(TestFrame.Padding.allCases, &random)
    self.index = UInt64.random(in: 0 ... 5, using: &random)
    var stages = RandomStages(random: random, geometry: self.geometry, smoothly: smoothly)
    self.pipeline = stages.pipeline()
    self.isSmooth = smoothly
    self.tolerance = stages.isCoarse ? 2 : 1
  }

  var description: String {
    "seed \(self.seed) (SIDELIGHT_CHAIN=\(self.seed) runs it alone): \(self.geometry.format) "
      + "\(self.geometry.size) \(self.geometry.color) \(self.padding) frame \(self.index) "
      + "\(self.pipeline.summary)"
  }

  func frame() throws -> Frame {
    try TestFrame.make(self.geometry, seed: self.seed, padding: self.padding)
  }

  private static func pick<Value>(_ values: [Value], _ random: inout TestRandom) -> Value {
    values[Int.random(in: 0 ..< values.count, using: &random)]
  }

  private static func size(_ random: inout TestRandom) -> FrameSize {
    switch Int.random(in: 0 ..< 12, using: &random) {
    case 0: FrameSize(width: 1, height: 1)
    case 1: FrameSize(width: .random(in: 1 ... 3, using: &random), height: 17)
    case 2: FrameSize(width: 33, height: .random(in: 1 ... 3, using: &random))
    // Longer than a strip.
    case 3: FrameSize(width: .random(in: 255 ... 300, using: &random), height: 3)
    default:
      FrameSize(
        width: .random(in: 2 ... 41, using: &random), height: .random(in: 2 ... 31, using: &random))
    }
  }
}

extension Pipeline {
  /// The pipeline in one line, for failures.
  var summary: String {
    "["
      + self.stages.map { stage in
        var summary =
          switch stage.content {
          case .filter(let call):
            call.name + "("
              + call.parameters.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
              .joined(separator: ", ") + ")"
          case .pipeline(let inner): inner.summary
          }
        if stage.mix != 1 { summary += " mix \(stage.mix)" }
        if let region = stage.region { summary += " in \(region)" }
        return stage.isActive ? summary : "off " + summary
      }.joined(separator: ", ") + "]"
  }
}
