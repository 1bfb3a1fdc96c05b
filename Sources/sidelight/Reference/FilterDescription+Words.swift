import SidelightKernels
import SidelightWire

/// What the pages say of a filter, each fact in the same words wherever it is shown.
extension FilterDescription {
  /// The filter in the text form, with all its parameters as they are by default:
  /// `vignette(intensity: 0, radius: 1)`. What must be given has an example in its place.
  var textForm: String {
    let parameters = self.parameters.compactMap { parameter in
      parameter.exampleValue.map { "\(parameter.name): \($0.textForm)" }
    }
    return parameters.isEmpty ? self.name : "\(self.name)(\(parameters.joined(separator: ", ")))"
  }

  /// What the filter sees of a frame, and whether it fuses.
  var sees: String {
    if self.category == .analysis { return "frames as they come in; no pass, and no frame waits" }
    switch self.reach {
    case .pixel: return "one pixel; fuses with its neighbours in the pipeline into one pass"
    case .neighborhood: return "a neighbourhood; a pass that takes pointwise neighbours into itself"
    case .frame: return "the whole frame; a pass of its own"
    }
  }
}

extension FilterDescription.Category {
  /// A heading.
  var title: String {
    switch self {
    case .color: "Colour"
    case .effect: "Effects"
    case .blur: "Blurs"
    case .sharpen: "Sharpening"
    case .stylize: "Stylizing"
    case .distortion: "Distortions"
    case .geometry: "Geometry"
    case .compositing: "Compositing"
    case .analysis: "Analyses"
    case .custom: "Of one's own"
    }
  }
}

extension Fidelity {
  /// What the filter promises.
  var words: String {
    switch self {
    case .formula: "formula: the computation is documented or exact"
    case .modelled: "modelled: the behaviour is documented, the formula is ours"
    case .approximation: "approximation: a fixed look, tuned by eye"
    case .custom: "custom: a filter of this server's own"
    }
  }
}
