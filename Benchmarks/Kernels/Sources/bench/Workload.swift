import SidelightKernels

/// One line of the benchmark: a pipeline on frames of one format.
struct Workload {
  let name: String
  let format: PixelFormat
  let pipeline: Pipeline

  /// What is measured, in the order in which it is printed.
  static let all: [Workload] = [
    Workload(name: "one colour matrix", format: .bgra8, pipeline: [.filter("sepiaTone")]),
    Workload(name: "one colour matrix", format: .i420, pipeline: [.filter("sepiaTone")]),
    Workload(name: "five stages", format: .bgra8, pipeline: Self.five),
    Workload(name: "five stages", format: .i420, pipeline: Self.five),
    Workload(name: "five stages", format: .nv12, pipeline: Self.five),
    Workload(
      name: "matrix, in strips", format: .rgb24, pipeline: [.filter("sepiaTone")]),
    Workload(
      name: "gaussian 2.5", format: .bgra8,
      pipeline: [.filter("gaussianBlur", ["radius": .number(2.5)])]),
    Workload(name: "gaussian 10", format: .bgra8, pipeline: [.filter("gaussianBlur")]),
    Workload(
      name: "gaussian 25", format: .bgra8,
      pipeline: [.filter("gaussianBlur", ["radius": .number(25)])]),
    Workload(name: "gaussian 10", format: .i420, pipeline: [.filter("gaussianBlur")]),
    Workload(
      name: "gaussian 10, then sepia", format: .bgra8,
      pipeline: [.filter("gaussianBlur"), .filter("sepiaTone")]),
    Workload(
      name: "pixellate 12", format: .bgra8,
      pipeline: [.filter("pixellate", ["scale": .number(12)])]),
    Workload(
      name: "pixellate 12", format: .i420,
      pipeline: [.filter("pixellate", ["scale": .number(12)])]),
  ]

  /// Sepia, temperature, vignette, controls, grain; those of them that the catalogue has.
  private static let five = Pipeline(
    stages: [
      Stage.filter("sepiaTone", ["intensity": .number(0.8)]),
      .filter("temperatureAndTint", ["targetNeutral": .vector([5500, 0])]),
      .filter("vignette", ["intensity": .number(1.2), "radius": .number(2)]),
      .filter("colorControls", ["saturation": .number(1.2), "contrast": .number(1.1)]),
      .filter("grain"),
    ].filter { stage in
      guard case .filter(let call) = stage.content else { return false }
      return FilterCatalogue.builtIn.description(named: call.name) != nil
    })
}
