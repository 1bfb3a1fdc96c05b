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
        StripKernel(isCurve: isCurve) { pixel, _, _, _ in
          SIMD4(cube.color(of: SIMD3(pixel.x, pixel.y, pixel.z)), pixel.w)
        } apply: { strip in
          cube.apply(to: strip)
        }))
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

  /// The table's colour for a colour, in double precision: the definition that ``apply(to:)``
  /// approximates.
  func color(of color: SIMD3<Double>) -> SIMD3<Double> {
    let low = SIMD3<Double>(self.domainLow)
    let unit = ((color - low) / (SIMD3<Double>(self.domainHigh) - low))
      .clamped(lowerBound: .zero, upperBound: .one)
    switch self.shape {
    case .curves(let count):
      var result = SIMD3<Double>.zero
      for channel in 0 ..< 3 {
        let position = unit[channel] * Double(count - 1)
        let knot = min(Int(position), count - 2)
        let (from, to) = (
          Double(self.entries[3 * knot + channel]), Double(self.entries[3 * knot + 3 + channel])
        )
        result[channel] = from + (to - from) * (position - Double(knot))
      }
      return result
    case .cube(let size):
      return self.tetrahedral(unit * Double(size - 1), size)
    }
  }

  private func tetrahedral(_ position: SIMD3<Double>, _ size: Int) -> SIMD3<Double> {
    var corner = (0 ..< 3).map { min(Int(position[$0]), size - 2) }
    let fractions = (0 ..< 3).map { position[$0] - Double(corner[$0]) }
    func entry() -> SIMD3<Double> {
      let index = 3 * (corner[0] + size * (corner[1] + size * corner[2]))
      return SIMD3(
        Double(self.entries[index]), Double(self.entries[index + 1]),
        Double(self.entries[index + 2]))
    }
    var previous = entry()
    var result = previous
    for axis in (0 ..< 3).sorted(by: { fractions[$0] > fractions[$1] }) {
      corner[axis] += 1
      let next = entry()
      result += (next - previous) * fractions[axis]
      previous = next
    }
    return result
  }
}
