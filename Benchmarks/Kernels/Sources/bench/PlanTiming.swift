import SidelightKernelLanguage
import SidelightKernels

/// The time to compile a plan of ten stages, and to get it from the cache.
enum PlanTiming {
  /// Returns microseconds: median and minimum to compile a plan, and to find it.
  static func report() throws -> String {
    let pipeline = try FilterCatalogue.builtIn.resolve(Self.pipeline)
    let geometry = FrameGeometry(
      format: .bgra8, size: Workload.size, color: ColorDescription(alpha: .opaque))
    let compiled = Self.times { _ = pipeline.plan(for: geometry) }
    let cache = PlanCache()
    let cached = Self.times { _ = cache.plan(for: pipeline, geometry) }
    return "ok " + (compiled + cached).map { $0.fourDecimals }.joined(separator: " ")
  }

  private static let pipeline: Pipeline = [
    .filter("sepiaTone"), .filter("hueAdjust", ["angle": .number(1)]),
    .filter("vignette", ["intensity": .number(1)]), .filter("gaussianBlur"),
    .filter("colorControls", ["saturation": .number(1.2)]), .filter("glow"),
    .filter("unsharpMask"), .filter("temperatureAndTint", ["neutral": .vector([5500, 0])]),
    .filter("pixellate"), .filter("grain"),
  ]

  private static func times(_ body: () -> Void) -> [Double] {
    let clock = ContinuousClock()
    let times = (0 ..< 400).map { _ in
      Double(clock.measure(body).components.attoseconds) / 1e12
    }
    return [times.sorted()[times.count / 2], times.min() ?? 0]
  }
}
