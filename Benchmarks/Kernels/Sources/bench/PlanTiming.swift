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

  /// Returns milliseconds to check and compile: of the filters without assets the median, the
  /// maximum and its filter; and of `kernel` with texts the
  /// maximum, and the maximum memory of their plans in bytes.
  static func filters() throws -> String {
    let catalogue = FilterCatalogue.builtIn
    let geometry = FrameGeometry(
      format: .bgra8, size: Workload.size, color: ColorDescription(alpha: .opaque))
    func plan(_ stage: Stage) throws -> Plan { try catalogue.resolve([stage]).plan(for: geometry) }
    func milliseconds(_ stage: Stage) throws -> Double {
      let clock = ContinuousClock()
      let times = try (0 ..< 5).map { _ in
        try clock.measure { _ = try plan(stage) }
      }
      return Double(times.sorted()[2].components.attoseconds) / 1e15
    }
    let names = catalogue.descriptions.filter { description in
      description.parameters.allSatisfy { $0.defaultValue != nil }
    }.map(\.name)
    let times = try names.map { name in (name: name, time: try milliseconds(.filter(name))) }
      .sorted { $0.time < $1.time }
    let texts = Workload.kernels.map { Stage.filter("kernel", ["source": .text($0)]) }
    let longest = try texts.map { try milliseconds($0) }.max() ?? 0
    let bytes = try texts.map { try plan($0).byteCost }.max() ?? 0
    let slowest = times[times.count - 1]
    return "ok \(times.count) \(times[times.count / 2].time.fourDecimals) "
      + "\(slowest.time.fourDecimals) \(slowest.name) \(longest.fourDecimals) \(bytes)"
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
