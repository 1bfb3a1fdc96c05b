/// A change of the picture's size.
struct Scale: ArgumentFilter {
  static let description = FilterDescription(
    name: "scale",
    summary: "Resizes the picture: fitted into a size, filling it, or stretched to it.",
    category: .geometry, reach: .frame, fidelity: .formula,
    keywords: "size smaller larger",
    examples: ["scale(width: 0.5w)"],
    formula: """
      Along each axis linear interpolation where the picture grows, and the mean of the covered \
      area where it shrinks. fit keeps the aspect ratio and gives the largest size within width \
      and height, without bars; fill keeps the aspect ratio, crops both sides, and gives that \
      size; stretch gives that size
      """,
    parameters: [
      ParameterDescription(
        "width", .length, default: .number(0), slider: 0 ... 4096, limits: 0 ... 8192,
        unit: .pixels, "The width; 0 follows from the height and the aspect ratio."),
      ParameterDescription(
        "height", .length, default: .number(0), slider: 0 ... 4096, limits: 0 ... 8192,
        unit: .pixels, "The height; 0 follows from the width and the aspect ratio."),
      ParameterDescription(
        "mode", .choice(PictureFit.allCases.map(\.rawValue)), default: .text("fit"),
        "How the picture is fitted if the aspect ratios differ."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = geometry.size
    let (wide, high) = (Double(size.width), Double(size.height))
    var width = min(self.arguments.length("width").pixels(in: size), 8192)
    var height = min(self.arguments.length("height").pixels(in: size), 8192)
    guard width > 0 || height > 0 else { return [] }
    if width == 0 { width = height * wide / high }
    if height == 0 { height = width * high / wide }
    var extent = (width: wide, height: high)
    switch PictureFit(rawValue: self.arguments.text("mode")) ?? .fit {
    case .stretch: break
    case .fit:
      let factor = min(width / wide, height / high)
      (width, height) = (wide * factor, high * factor)
    case .fill:
      let factor = max(width / wide, height / high)
      extent = (min(width / factor, wide), min(height / factor, high))
    }
    let result = FrameSize(width: Self.pixels(width), height: Self.pixels(height))
    let origin = (x: (wide - extent.width) / 2, y: (high - extent.height) / 2)
    if result == size, extent == (wide, high) { return [] }
    return [.resample(from: origin, extent: extent, to: result)]
  }

  private static func pixels(_ length: Double) -> Int {
    Int(min(max(length.rounded(), 1), 8192))
  }
}
