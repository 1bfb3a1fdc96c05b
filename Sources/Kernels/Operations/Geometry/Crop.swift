/// A crop to a rectangle.
struct Crop: ArgumentFilter {
  static let description = FilterDescription(
    name: "crop",
    summary: "Crops the picture to a rectangle.",
    category: .geometry, reach: .frame, fidelity: .formula, isCoreImage: true,
    keywords: "cut trim zoom",
    examples: ["crop(origin: (0.25w, 0.05h), width: 0.4w, height: 0.4h)"],
    formula: """
      The pixels of the rectangle, its edges rounded to whole pixels and clipped to the frame; at \
      least one pixel. 4:2:0 chroma is interpolated where the origin is odd
      """,
    parameters: [
      ParameterDescription(
        "origin", .point, default: .vector([0, 0]), "The top left corner."),
      ParameterDescription(
        "width", .length, default: .length(Length(1, .width)), slider: 1 ... 4096,
        limits: 0 ... 16384, unit: .pixels, "The width of the rectangle."),
      ParameterDescription(
        "height", .length, default: .length(Length(1, .height)), slider: 1 ... 4096,
        limits: 0 ... 16384, unit: .pixels, "The height of the rectangle."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let rect = self.rect(in: geometry.size)
    guard !rect.covers(geometry.size) else { return [] }
    let size = FrameSize(width: rect.x.count, height: rect.y.count)
    return [
      .resample(
        from: (Double(rect.x.lowerBound), Double(rect.y.lowerBound)),
        extent: (Double(size.width), Double(size.height)), to: size)
    ]
  }

  /// The rectangle; if it is outside the frame, the pixel next to it.
  private func rect(in size: FrameSize) -> PixelRect {
    let origin = self.arguments.point("origin")
    let region = Region(
      origin: origin, width: self.arguments.length("width"),
      height: self.arguments.length("height"))
    if let rect = PixelRect(region, in: size) { return rect }
    func nearest(_ origin: Double, _ limit: Int) -> Range<Int> {
      let pixel = Int(min(max(origin.rounded(), 0), Double(limit - 1)))
      return pixel ..< pixel + 1
    }
    return PixelRect(
      x: nearest(origin.x.pixels(in: size), size.width),
      y: nearest(origin.y.pixels(in: size), size.height))
  }
}
