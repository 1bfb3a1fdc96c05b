package import SidelightKernels

/// The blur of the background behind people.
package struct BackgroundBlur: SceneFilter {
  package static let name = "backgroundBlur"

  /// Returns the description.
  ///
  /// - Parameter models: The names of the operator's models for mattes.
  package static func description(models: [String]) -> FilterDescription {
    FilterDescription(
      name: Self.name,
      summary: "Blurs the background behind people.",
      category: .blur, reach: .frame, fidelity: .approximation,
      keywords: "hide room bokeh portrait",
      examples: ["backgroundBlur(matte: portrait, sigma: 0.04h)"],
      formula: """
        a c + (1 - a) b, c the frame and a the matte as in virtualBackground. b is the background \
        blurred without the person: blur(w c) / blur(w), w = (1 - a)^2 with a the greatest of 3x3 \
        pixels; blur is a Gaussian of sigma by three boxes, on means of at least the pixels of a \
        picture of at most 320x180. While the matte is not sure, the whole frame is blurred by \
        sigma or height / 18, whichever is more. Matte portrait: head and shoulders guessed from \
        the face and adapted to the colours by GrabCut (Rother, Kolmogorov and Blake 2004), at \
        160x90 and every third frame at most; it loses hair and hats before busy rooms, does not \
        protect, and leaves frames without a sure matte unchanged. Detections as virtualBackground
        """,
      parameters: [
        ParameterDescription(
          "sigma", .length, default: .length(Length(0.0167, .height)), slider: 0 ... 60,
          limits: 0 ... 1024, unit: .pixels,
          "The standard deviation; 12 pixels of 720 by default.")
      ]
        + MatteChoice.parameters(
          [MatteTools.plate, MatteTools.key, MatteTools.portraitName] + models, portrait: true))
  }

  package let description: FilterDescription
  private let choice: MatteChoice
  private let edges: MatteEdges
  private let sigma: Length

  package init(_ arguments: Arguments, mattes: MatteTools) {
    self.description = Self.description(models: mattes.models.keys.sorted())
    self.choice = MatteChoice(arguments, mattes)
    self.edges = MatteEdges(position: arguments.number("edge"))
    self.sigma = arguments.length("sigma")
  }

  package var unavailability: String? { self.choice.unavailability }
  package var protects: Bool { self.choice.protects }

  package func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let sigma = min(self.sigma.pixels(in: geometry.size), 1024)
    return [
      .scene(
        BackgroundOperation(
          choice: self.choice, edges: self.edges, background: .blur(sigma: sigma)))
    ]
  }
}
