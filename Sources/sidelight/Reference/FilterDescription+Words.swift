import SidelightKernels
import SidelightWire

/// Texts about a filter for the reference page and the terminal.
extension FilterDescription {
  /// The filter in text form, with the defaults of all parameters: `vignette(intensity: 0, radius:
  /// 1)`. Required parameters have an example value.
  var textForm: String {
    let parameters = self.parameters.compactMap { parameter in
      parameter.exampleValue.map { "\(parameter.name): \($0.textForm)" }
    }
    return parameters.isEmpty ? self.name : "\(self.name)(\(parameters.joined(separator: ", ")))"
  }

  /// The part of a frame that the filter reads, and whether it is fused with other filters.
  var sees: String {
    if self.category == .analysis { return "input frames; adds no pass and no delay" }
    switch self.reach {
    case .pixel: return "one pixel; fused with neighbouring filters into one pass"
    case .neighborhood: return "a neighbourhood; one pass, with neighbouring one-pixel filters"
    case .frame: return "the whole frame; a separate pass"
    }
  }
}

extension FilterDescription.Category {
  /// The heading.
  var title: String {
    switch self {
    case .color: "Colour"
    case .effect: "Effects"
    case .blur: "Blur"
    case .sharpen: "Sharpening"
    case .stylize: "Stylizing"
    case .distortion: "Distortion"
    case .geometry: "Geometry"
    case .compositing: "Compositing"
    case .analysis: "Analysis"
    case .custom: "Custom"
    }
  }
}

extension Fidelity {
  /// The fidelity, with its meaning.
  var words: String {
    switch self {
    case .formula: "formula: the computation is documented or exact"
    case .modelled: "modelled: the behaviour is documented, the formula is ours"
    case .approximation: "approximation: a fixed look, tuned by eye"
    case .custom: "custom: a custom filter of this server"
    }
  }
}
