import CKernels
import SidelightKernels
import SidelightScene

/// The small picture of ``FrameReduction`` by its definition, and the guided filter's models of it
/// in double precision.
struct ReferenceGuide {
  let size: FrameSize
  /// Red, green and blue, whole numbers 0 ... 255.
  let pixels: [SIMD3<Double>]

  init(size: FrameSize, pixels: [SIMD3<Double>]) {
    self.size = size
    self.pixels = pixels
  }

  init(_ planes: [ReferencePlane], of geometry: FrameGeometry) {
    let reduction = FrameReduction(geometry)
    let (factor, frame) = (reduction.factor, geometry.size)
    let size = reduction.size
    self.size = size
    /// The mean of a cell in 1/32 level.
    func mean(_ plane: ReferencePlane, _ x: Int, _ y: Int, _ channel: Int) -> Int {
      var sum = 0.0
      for row in 0 ..< factor {
        for column in 0 ..< factor {
          let pixel = (
            x: min(x * factor + column, frame.width - 1),
            y: min(y * factor + row, frame.height - 1)
          )
          sum +=
            plane.scale < 1
            ? plane[pixel.x / 2, pixel.y / 2, channel] : plane[pixel.x, pixel.y, channel]
        }
      }
      return Int((sum * 32 / Double(factor * factor)).rounded())
    }
    let toRGB = YUVConversion(geometry.color).toRGB
    func fixed(_ factor: Float) -> Int { Int((Double(factor) * 255 * 16384).rounded()) }
    func level(_ value: Int) -> Double { Double(min(max(value, 0), 255)) }
    self.pixels = (0 ..< size.pixelCount).map { index in
      let (x, y) = (index % size.width, index / size.width)
      func deep(_ channel: Int) -> Double { level((mean(planes[0], x, y, channel) + 16) >> 5) }
      switch geometry.format {
      case .bgra8: return [deep(2), deep(1), deep(0)]
      case .rgba8, .rgb24: return [deep(0), deep(1), deep(2)]
      case .gray8: return [deep(0), deep(0), deep(0)]
      case .i420, .nv12:
        let isPair = geometry.format == .nv12
        let luma =
          (mean(planes[0], x, y, 0) - Int(toRGB.luma_offset) * 32) * fixed(toRGB.luma_scale)
          + 1 << 18
        let cb = mean(planes[1], x, y, 0) - 4096
        let cr = mean(planes[isPair ? 1 : 2], x, y, isPair ? 1 : 0) - 4096
        return [
          level((luma + fixed(toRGB.red_v) * cr) >> 19),
          level((luma + fixed(toRGB.green_u) * cb + fixed(toRGB.green_v) * cr) >> 19),
          level((luma + fixed(toRGB.blue_u) * cb) >> 19),
        ]
      }
    }
  }

  /// The averaged models of a matte in 0 ... 1: weights of red, green and blue in 0 ... 1, and a
  /// bias.
  func models(of matte: [Double], _ filter: GuidedFilter) -> ReferenceModels {
    func box(_ x: Int, _ y: Int) -> [Int] {
      let columns = max(x - filter.radius, 0) ... min(x + filter.radius, self.size.width - 1)
      return (max(y - filter.radius, 0) ... min(y + filter.radius, self.size.height - 1))
        .flatMap { row in columns.map { row * self.size.width + $0 } }
    }
    let places = (0 ..< self.size.pixelCount).map {
      box($0 % self.size.width, $0 / self.size.width)
    }
    let colors = self.pixels.map { $0 / 255 }
    let models = places.map { box -> SIMD4<Double> in
      let count = Double(box.count)
      let mean = box.reduce(SIMD3<Double>.zero) { $0 + colors[$1] } / count
      let middle = box.reduce(0) { $0 + matte[$1] } / count
      var rows = [SIMD4<Double>](repeating: .zero, count: 3)
      for place in box {
        let color = colors[place] - mean
        for row in 0 ..< 3 {
          rows[row] += color[row] * SIMD4(color, matte[place] - middle) / count
        }
      }
      for row in 0 ..< 3 { rows[row][row] += filter.epsilon }
      // Gauss and Jordan, without pivots: the matrix is positive definite.
      for pivot in 0 ..< 3 {
        rows[pivot] /= rows[pivot][pivot]
        for row in 0 ..< 3 where row != pivot { rows[row] -= rows[row][pivot] * rows[pivot] }
      }
      let weights = SIMD3(rows[0].w, rows[1].w, rows[2].w)
      return SIMD4(weights, middle - (weights * mean).sum())
    }
    return ReferenceModels(
      size: self.size,
      models: places.map { box in
        box.reduce(SIMD4<Double>.zero) { $0 + models[$1] } / Double(box.count)
      })
  }
}

/// The models of a small picture's pixels, in double precision.
struct ReferenceModels {
  let size: FrameSize
  let models: [SIMD4<Double>]

  /// The alpha of a frame's pixel.
  func alpha(_ x: Int, _ y: Int, _ color: SIMD3<Double>, _ factor: Int) -> Double {
    MatteEdges.standard(self.value(x, y, color, factor))
  }

  /// The model's value for a frame's pixel.
  func value(_ x: Int, _ y: Int, _ color: SIMD3<Double>, _ factor: Int) -> Double {
    let across = FrameReduction.place(Double(x), factor, self.size.width)
    let down = FrameReduction.place(Double(y), factor, self.size.height)
    func model(_ row: Int) -> SIMD4<Double> {
      let start = row * self.size.width
      let (left, right) = (self.models[start + across.cell], self.models[start + across.next])
      return left + (right - left) * across.fraction
    }
    let (above, below) = (model(down.cell), model(down.next))
    return ((above + (below - above) * down.fraction) * SIMD4(color, 1)).sum()
  }
}

/// The blend of ``MatteBlend`` by its definition.
struct ReferenceBlend {
  let geometry: FrameGeometry
  let spill: KeySpill
  /// The premultiplied backdrop.
  let backdrop: (_ x: Int, _ y: Int) -> SIMD4<Double>

  func callAsFunction(
    _ planes: [ReferencePlane], by models: ReferenceModels
  ) -> [ReferencePlane] {
    let size = self.geometry.size
    let factor = FrameReduction(self.geometry).factor
    // The picture's colours as its samples hold them: premultiplied.
    var opaque = self.geometry
    opaque.color.alpha = .opaque
    let picture = ReferencePicture(planes: planes, geometry: opaque, isPremultiplied: false)
    let alphas = (0 ..< size.pixelCount).map { index -> Double in
      let pixel = picture.pixels[index]
      return models.alpha(
        index % size.width, index / size.width, [pixel.x, pixel.y, pixel.z], factor)
    }
    func alpha(_ x: Int, _ y: Int) -> Double {
      alphas[min(y, size.height - 1) * size.width + min(x, size.width - 1)]
    }
    var behind = picture
    behind.pixels = (0 ..< size.pixelCount).map { self.backdrop($0 % size.width, $0 / size.width) }
    let backdrops = behind.planes(isPremultiplied: false)
    let hasAlpha = self.geometry.format.hasAlpha && self.geometry.color.alpha != .opaque
    let coding = MatteCoding(self.geometry)
    let removal = coding.removal(of: self.spill)
    func excess(_ x: Int, _ y: Int) -> Double {
      guard planes.count > 1 else { return 0 }
      let cb = planes[1][x, y, 0] - 128
      let cr = (planes.count == 3 ? planes[2][x, y, 0] : planes[1][x, y, 1]) - 128
      return max(0, removal.differences.map { ($0 * [cb, cr]).sum() }.min() ?? 0)
    }
    return zip(planes, backdrops).enumerated().map { index, pair in
      let (plane, backdrop) = pair
      return plane.map { x, y, channel in
        let (own, other) = (plane[x, y, channel], backdrop[x, y, channel])
        if plane.scale < 1 {
          let a =
            (alpha(2 * x, 2 * y) + alpha(2 * x + 1, 2 * y) + alpha(2 * x, 2 * y + 1)
              + alpha(2 * x + 1, 2 * y + 1)) / 4
          let component = planes.count == 3 ? index : 1 + channel
          let share = Self.withoutKey(
            own - 128 - removal.gains[component] * excess(x, y), a, removal.residue[component],
            -coding.chromaRange * a ... coding.chromaRange * a)
          return 128 + share + (1 - a) * (other - 128)
        }
        if plane.step == 1 {
          let a = alpha(x, y)
          let share = Self.withoutKey(
            own - coding.lumaOffset - removal.gains.x * excess(x / 2, y / 2), a,
            removal.residue.x, 0 ... coding.lumaRange * a)
          return coding.lumaOffset + share + (1 - a) * (other - coding.lumaOffset)
        }
        let opacity = hasAlpha ? plane[x, y, 3] / 255 : 1
        let cover = alpha(x, y) * opacity
        if channel == 3 { return hasAlpha ? 255 * cover + (1 - cover) * other : own }
        let order = PixelOrder.colors(of: self.geometry.format) ?? [0, 1, 2]
        var color = own
        if order[channel] == self.spill.channel {
          let others = (0 ..< 3).filter { $0 != channel }.map { plane[x, y, $0] }
          color -= self.spill.amount * max(0, own - max(others[0], others[1]))
        }
        let share = Self.withoutKey(
          color, alpha(x, y), 255 * self.spill.residue[order[channel]] * opacity,
          0 ... 255 * cover)
        return share + (1 - cover) * other
      }
    }
  }

  private static func withoutKey(
    _ color: Double, _ alpha: Double, _ residue: Double, _ range: ClosedRange<Double>
  ) -> Double {
    let plain = alpha * color
    return min(
      max(color - (1 - alpha) * residue, min(plain, range.lowerBound)),
      max(plain, range.upperBound))
  }
}
