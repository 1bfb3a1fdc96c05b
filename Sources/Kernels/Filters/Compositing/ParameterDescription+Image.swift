extension ParameterDescription {
  /// The name of an image; with a default of "", none need be given.
  static func image(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
    ParameterDescription(
      name, .asset, default: isOptional ? .text("") : nil, assetKind: .image, summary)
  }

  /// The name of an image, or of the frame as it came in.
  static func backdrop(_ name: String, isOptional: Bool = false, _ summary: String) -> Self {
    ParameterDescription(
      name, .asset, default: isOptional ? .text("") : nil, assetKind: .image, acceptsSource: true,
      summary)
  }

  /// How an image is brought into the frame or a rectangle.
  static func fit(default fit: PictureFit, _ summary: String) -> Self {
    ParameterDescription(
      "fit", .choice(PictureFit.allCases.map(\.rawValue)), default: .text(fit.rawValue), summary)
  }
}
