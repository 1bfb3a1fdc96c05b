package import SidelightKernels
package import SidelightScene

/// The alpha of a small picture's pixels by a matte with guided edges, for tests and measurements.
package enum MatteProbe {
  package static func guided(
    _ matte: MatteEstimate, _ picture: ColorPicture, _ filter: GuidedFilter = GuidedFilter(),
    isSharpened: Bool = true
  ) -> [Double] {
    let pool = BufferPool(maxIdleBytes: 0)
    let size = FrameSize(width: picture.width, height: picture.height)
    let guide = GuidePlanes.guide(size, pool: pool)
    guide.load(picture)
    guide.load(matte)
    let models = FloatPlanes(width: size.width, height: size.height, planes: 4, pool: pool)
    filter.run(0 ..< size.height, guide, to: models)
    return (0 ..< size.pixelCount).map { index -> Double in
      let (x, y) = (index % size.width, index / size.width)
      var value = unsafe Double(models.row(y, plane: 3)[x])
      for plane in 0 ..< 3 {
        let weight = unsafe Double(models.row(y, plane: plane)[x])
        unsafe value += weight * Double(guide.row(y, plane: plane)[x])
      }
      value /= 255
      guard isSharpened else { return value }
      return MatteEdges.standard(value)
    }
  }
}

extension MatteProbe {
  /// The models' values by the definition, in double precision.
  package static func reference(
    _ matte: MatteEstimate, _ picture: ColorPicture, _ filter: GuidedFilter
  ) -> [Double] {
    let size = FrameSize(width: picture.width, height: picture.height)
    let levels = picture.samples.map(Double.init)
    let pixels = (0 ..< size.pixelCount).map { pixel -> SIMD3<Double> in
      SIMD3(levels[3 * pixel], levels[3 * pixel + 1], levels[3 * pixel + 2])
    }
    let guide = ReferenceGuide(size: size, pixels: pixels)
    let rounded = matte.values.map { Double(($0 * 255).rounded()) / 255 }
    let models = guide.models(of: rounded, filter)
    return (0 ..< size.pixelCount).map { pixel -> Double in
      let color = SIMD4(guide.pixels[pixel] / 255, 1)
      return (models.models[pixel] * color).sum()
    }
  }
}
