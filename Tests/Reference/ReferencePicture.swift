package import SidelightKernels

/// A picture in double precision, pixel by pixel, with which the results of plans are compared:
/// gamma-encoded RGB with straight alpha in 0 ... 1.
package struct ReferencePicture: Sendable {
  /// The encoding of the picture.
  package var geometry: FrameGeometry
  /// Row by row: red, green, blue, alpha; straight, unclamped.
  package var pixels: [SIMD4<Double>]

  /// Whether the picture has alpha that is not ignored.
  package var hasAlpha: Bool {
    self.geometry.format.hasAlpha && self.geometry.color.alpha != .opaque
  }

  /// Decodes a frame.
  package init(_ frame: Frame) {
    var planes: [ReferencePlane] = []
    for shape in PlaneShape.planes(frame.format, frame.size) {
      var samples: [Double] = []
      for y in 0 ..< shape.height {
        frame.withRow(y, plane: shape.plane) { row in
          for offset in 0 ..< row.byteCount {
            samples.append(Double(unsafe row.unsafeLoad(fromByteOffset: offset, as: UInt8.self)))
          }
        }
      }
      planes.append(
        ReferencePlane(
          width: shape.width, height: shape.height, step: shape.step, scale: shape.scale,
          samples: samples))
    }
    self.init(
      planes: planes, geometry: frame.geometry,
      isPremultiplied: frame.color.alpha == .premultiplied)
  }

  /// Decodes planes of code values.
  ///
  /// - Parameters:
  ///   - planes: The planes, in the order of the format.
  ///   - geometry: The encoding.
  ///   - isPremultiplied: Whether colour is multiplied by alpha in formats with alpha.
  package init(planes: [ReferencePlane], geometry: FrameGeometry, isPremultiplied: Bool) {
    self.geometry = geometry
    self.pixels = []
    let (width, height) = (geometry.size.width, geometry.size.height)
    let divides = isPremultiplied && geometry.format.hasAlpha && geometry.color.alpha != .opaque
    let coding = YUVCoding(geometry.color)
    for y in 0 ..< height {
      for x in 0 ..< width {
        func sample(_ channel: Int) -> Double { planes[0][x, y, channel] / 255 }
        var pixel: SIMD4<Double>
        switch geometry.format {
        case .bgra8: pixel = [sample(2), sample(1), sample(0), sample(3)]
        case .rgba8: pixel = [sample(0), sample(1), sample(2), sample(3)]
        case .rgb24: pixel = [sample(0), sample(1), sample(2), 1]
        case .gray8: pixel = [sample(0), sample(0), sample(0), 1]
        case .i420:
          pixel = coding.decode(
            planes[0][x, y, 0], planes[1][x / 2, y / 2, 0], planes[2][x / 2, y / 2, 0])
        case .nv12:
          pixel = coding.decode(
            planes[0][x, y, 0], planes[1][x / 2, y / 2, 0], planes[1][x / 2, y / 2, 1])
        }
        if divides {
          let factor = pixel.w > 0 ? 1 / pixel.w : 0
          pixel = [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
        }
        self.pixels.append(pixel)
      }
    }
  }

  /// Returns code values, neither rounded nor clamped.
  ///
  /// - Parameter isPremultiplied: Whether to multiply colour by alpha in formats with alpha.
  package func planes(isPremultiplied: Bool) -> [ReferencePlane] {
    let (width, height) = (self.geometry.size.width, self.geometry.size.height)
    let multiplies = isPremultiplied && self.hasAlpha
    let coding = YUVCoding(self.geometry.color)
    func pixel(_ x: Int, _ y: Int) -> SIMD4<Double> {
      let pixel = self.pixels[y * width + x]
      let factor = multiplies ? pixel.w : 1
      return [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
    }
    return PlaneShape.planes(self.geometry.format, self.geometry.size).map { shape in
      let empty = ReferencePlane(
        width: shape.width, height: shape.height, step: shape.step, scale: shape.scale,
        samples: Array(repeating: 0, count: shape.samples * shape.height))
      return empty.map { x, y, channel in
        switch self.geometry.format {
        case .bgra8: pixel(x, y)[[2, 1, 0, 3][channel]] * 255
        case .rgba8, .rgb24: pixel(x, y)[channel] * 255
        case .gray8: (pixel(x, y) * SIMD4(ColorMatrix.luma, 0)).sum() * 255
        case .i420 where shape.plane == 0, .nv12 where shape.plane == 0:
          coding.luma(pixel(x, y))
        case .i420, .nv12:
          // The mean of the pixels that share the sample.
          coding.chroma(
            [(0, 0), (1, 0), (0, 1), (1, 1)].reduce(SIMD4<Double>.zero) { sum, offset in
              sum
                + pixel(
                  min(2 * x + offset.0, width - 1), min(2 * y + offset.1, height - 1)) / 4
            })[shape.plane - 1 + channel]
        }
      }
    }
  }

  /// Returns the picture in another encoding: composited on black for an encoding without alpha.
  package func converted(to encoding: FrameEncoding) -> ReferencePicture {
    var copy = self
    copy.geometry.format = encoding.format
    copy.geometry.color = encoding.color
    if self.hasAlpha, !copy.hasAlpha {
      copy.pixels = self.pixels.map { [$0.x * $0.w, $0.y * $0.w, $0.z * $0.w, 1] }
    } else if copy.hasAlpha, !self.hasAlpha {
      copy.pixels = self.pixels.map { [$0.x, $0.y, $0.z, 1] }
    }
    return copy
  }

  /// Returns the samples of a frame, clamped and rounded once. NaN is 0, as in the rows in C.
  package func encoded() -> [[UInt8]] {
    var copy = self
    if self.hasAlpha {
      // A premultiplied colour beyond white would exceed its alpha.
      copy.pixels = self.pixels.map {
        self.geometry.color.alpha == .premultiplied
          ? $0.clamped(lowerBound: .zero, upperBound: .one) : $0
      }
    }
    return copy.planes(isPremultiplied: self.geometry.color.alpha == .premultiplied).map { plane in
      plane.samples.map { UInt8($0.isNaN ? 0 : min(max($0, 0), 255).rounded()) }
    }
  }
}

extension SampleGrid {
  /// Reads the samples of a picture, as a frame would hold it.
  init(_ picture: ReferencePicture) {
    let (planes, shapes) = (
      picture.encoded(), PlaneShape.planes(picture.geometry.format, picture.geometry.size)
    )
    self.init(picture.geometry) { plane, x, y, channel in
      planes[plane][y * shapes[plane].samples + x * shapes[plane].step + channel]
    }
  }
}
