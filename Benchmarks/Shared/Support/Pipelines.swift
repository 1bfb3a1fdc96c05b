package import SidelightKernels

extension Pipeline {
  /// Sepia, temperature, vignette, controls and grain, which the planner folds into one pass.
  package static let fiveStages: Pipeline = [
    .filter("sepiaTone", ["intensity": .number(0.8)]),
    .filter("temperatureAndTint", ["targetNeutral": .vector([5500, 0])]),
    .filter("vignette", ["intensity": .number(1.2), "radius": .number(2)]),
    .filter("colorControls", ["saturation": .number(1.2), "contrast": .number(1.1)]),
    .filter("grain"),
  ]
}
