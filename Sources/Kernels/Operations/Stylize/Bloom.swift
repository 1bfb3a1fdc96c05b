/// A glow of highlights.
struct Bloom: BlurredMixFilter {
  static let description = HighlightDescription.make(
    "bloom", "Softens edges and gives highlights a glow.", extremum: "max", excluded: "darker",
    "The strength of the glow; 0 changes nothing.", keywords: "soft light shine")
  static let weights = (up: 1.0, down: 0.0)

  let arguments: Arguments
}

/// A reduction of highlights.
struct Gloom: BlurredMixFilter {
  static let description = HighlightDescription.make(
    "gloom", "Dulls the highlights of the picture.", extremum: "min", excluded: "brighter",
    "The strength; 0 changes nothing.")
  static let weights = (up: 0.0, down: 1.0)

  let arguments: Arguments
}

/// The descriptions of ``Bloom`` and ``Gloom``, which add differences of opposite signs.
private enum HighlightDescription {
  static func make(
    _ name: String, _ summary: String, extremum: String, excluded: String, _ intensity: String,
    keywords: String = ""
  ) -> FilterDescription {
    FilterDescription(
      name: name, summary: summary, category: .stylize, reach: .neighborhood, fidelity: .modelled,
      isCoreImage: true, keywords: keywords, examples: ["\(name)(radius: 0.03125h, intensity: 1)"],
      formula: """
        in + intensity * \(extremum)(0, blur(in) - in), blur the Gaussian of standard deviation \
        radius: never \(excluded), and flat areas do not change. Computed for each channel of RGB \
        and grey formats; in YUV formats by luma, and chroma moves towards its own blur, in \
        proportion up to a difference of 16 levels of luma. border sets the pixels beyond the \
        edges. Alpha is a channel like the others
        """,
      parameters: BlurredMixParameters.list(
        radius: 10, intensity: -8 ... 8, intensity))
  }
}
