import CKernels

/// A colour lookup table.
struct ColorCube: ArgumentFilter {
  static let description = FilterDescription(
    name: "colorCube",
    summary: "Maps colours through a lookup table: a .cube file with curves or a cube.",
    category: .color, reach: .pixel, fidelity: .formula, isCoreImage: true,
    keywords: "lut look grade film",
    formula: """
      rgb' = rgb + intensity * (table(rgb) - rgb), rgb clamped to the table's domain. A cube is \
      interpolated tetrahedrally: from the cell's low corner along the axes in the order of their \
      fractions; curves linearly. Greys of a neutral cube stay grey; alpha is kept
      """,
    parameters: [
      ParameterDescription(
        "asset", .asset, default: nil, assetKind: .cube, "The name of the table."),
      ParameterDescription(
        "intensity", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The weight of the table's colour; 0 changes nothing."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let intensity = self.arguments.number("intensity")
    guard let cube = self.arguments.cube("asset"), intensity > 0 else { return [] }
    let isCurve = if case .curves = cube.shape { true } else { false }
    let node = FilterNode(
      .kernel(
        StripKernel(.value(cube), isCurve: isCurve) { strip in cube.apply(to: strip) }))
    return [intensity < 1 ? .mixed([node], amount: intensity) : node]
  }
}

extension CubeAsset {
  /// Replaces the colours of a strip by the table's colours.
  func apply(to strip: Strip) {
    switch self.shape {
    case .curves(let count): self.applyCurves(count, to: strip)
    case .cube(let size): self.applyCube(size, to: strip)
    }
  }

  private func applyCube(_ size: Int, to strip: Strip) {
    let per = 1 / (self.domainHigh - self.domainLow)
    let low = self.domainLow
    unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: 6) { domain in
      for channel in 0 ..< 3 {
        unsafe domain.initializeElement(at: channel, to: low[channel])
        unsafe domain.initializeElement(at: 3 + channel, to: per[channel])
      }
      unsafe sl_rows_current().pointee.lookup_cube(
        strip.red, strip.green, strip.blue, strip.count, self.texels.start, size,
        domain.baseAddress.unsafelyUnwrapped)
    }
  }

  private func applyCurves(_ count: Int, to strip: Strip) {
    let curve = unsafe sl_rows_current().pointee.lookup_curve
    let per = 1 / (self.domainHigh - self.domainLow)
    var index = 0
    unsafe strip.forEachColor { channel in
      for pixel in 0 ..< strip.count {
        unsafe channel[pixel] = (channel[pixel] - self.domainLow[index]) * per[index]
      }
      unsafe curve(channel, strip.count, self.curves.start + index * count, count - 1)
      index += 1
    }
  }
}
