package import SidelightKernels

extension BlurredMixOperation: ReferenceOperation {
  package func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    let blurred = GaussianBlurOperation(sigma: self.sigma).reference(planes, of: geometry)
    return planes.indices.map { index in
      let (plane, blur) = (planes[index], blurred[index])
      return plane.map { x, y, channel in
        let value = plane[x, y, channel]
        let difference = blur[x, y, channel] - value
        guard plane.scale < 1, !self.isLinear else {
          return value + difference * (difference > 0 ? self.up : self.down)
        }
        // The mean luma difference of the pixels that share the sample.
        let luma = [(0, 0), (1, 0), (0, 1), (1, 1)].reduce(0.0) { sum, offset in
          let (lumaX, lumaY) = (2 * x + offset.0, 2 * y + offset.1)
          return sum + (blurred[0][lumaX, lumaY, 0] - planes[0][lumaX, lumaY, 0]) / 4
        }
        let share = min(abs(luma) / Self.ramp, 1) * (luma > 0 ? self.up : self.down)
        return value + difference * share
      }.boundedByAlpha(of: geometry)
    }
  }
}

extension LumaSharpenOperation: ReferenceOperation {
  package func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    guard planes[0].step >= 3 else {
      // A plane of luma, or of grey; chroma does not change.
      let blurred = GaussianBlurOperation(sigma: self.sigma).reference(planes[0])
      let luma = planes[0].map { x, y, channel in
        let value = planes[0][x, y, channel]
        return value + self.gain * (value - blurred[x, y, channel])
      }
      return [luma] + planes.dropFirst()
    }
    let weights = LumaWeights(geometry.format).exact
    let plane = planes[0]
    let luma = ReferencePlane(
      width: plane.width, height: plane.height, step: 1, scale: 1,
      samples: (0 ..< plane.width * plane.height).map { pixel in
        (0 ..< 3).reduce(0) { $0 + weights[$1] * plane.samples[pixel * plane.step + $1] }
      })
    let blurred = GaussianBlurOperation(sigma: self.sigma).reference(luma)
    let hasAlpha = geometry.format.hasAlpha && geometry.color.alpha != .opaque
    return [
      plane.map { x, y, channel in
        guard channel < 3 else { return plane[x, y, channel] }
        let alpha = hasAlpha ? plane[x, y, 3] / 255 : 1
        return plane[x, y, channel] + self.gain * alpha * (luma[x, y, 0] - blurred[x, y, 0])
      }.boundedByAlpha(of: geometry)
    ]
  }
}

extension GuidedDetailOperation: ReferenceOperation {
  package func reference(
    _ planes: [ReferencePlane], of geometry: FrameGeometry
  ) -> [ReferencePlane] {
    let guide = ReferenceGuide(planes, of: geometry)
    let luma = guide.pixels.map { ($0 * GuidedDetailPass.luma).sum() / 255 }
    let models = guide.models(of: luma.map { ($0 * 255).rounded() / 255 }, self.guided)
    let factor = FrameReduction(geometry).factor
    var opaque = geometry
    opaque.color.alpha = .opaque
    let picture = ReferencePicture(planes: planes, geometry: opaque, isPremultiplied: false)
    let hasAlpha = geometry.format.hasAlpha && geometry.color.alpha != .opaque
    let range = MatteCoding(geometry).lumaRange
    let plane = planes[0]
    let changed = plane.map { x, y, channel in
      let value = plane[x, y, channel]
      guard channel < 3 else { return value }
      let pixel = picture.pixels[y * geometry.size.width + x]
      let color = SIMD3(pixel.x, pixel.y, pixel.z)
      let smooth = models.value(x, y, color, factor)
      var change = self.change((color * GuidedDetailPass.luma).sum() - smooth)
      let alpha = hasAlpha ? plane[x, y, 3] / 255 : 1
      if self.isSkinOnly {
        let chroma = GuidedDetailPass.chroma(alpha > 0 ? color / alpha : .zero)
        change *= SkinColor.likelihood(cb: chroma.x, cr: chroma.y)
      }
      return value + change * alpha * range
    }
    return [changed.boundedByAlpha(of: geometry)] + planes.dropFirst()
  }
}

extension GuidedDetailOperation {
  /// The change of a pixel with that detail, in units of white, apart from skin and alpha.
  fileprivate func change(_ detail: Double) -> Double {
    let square = detail * detail
    let scaled = self.gain * detail * (square / (square + self.squaredCoring))
    return min(max(scaled, -self.limit), self.limit)
  }
}

extension SkinColor {
  /// Returns clamp(1.5 - q, 0, 1), q the squared distance from the centre in half axes.
  fileprivate static func likelihood(cb: Double, cr: Double) -> Double {
    let offset = (SIMD2(cb, cr) - Self.center) / Self.axes
    return min(max(1.5 - (offset * offset).sum(), 0), 1)
  }
}
