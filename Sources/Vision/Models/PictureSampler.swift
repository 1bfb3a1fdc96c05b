import SidelightKernels
package import SidelightScene

/// Resamples a part of a picture to the input of a model.
///
/// A value is `(sample - mean) * scale`. Samples are interpolated between the centres of four
/// pixels; pictures that are more than twice as large as the input are first reduced by averaging
/// squares of pixels. Samples outside the picture are 0.
package struct PictureSampler {
  private let input: ModelDescription.Input

  package init(_ input: ModelDescription.Input) {
    self.input = input
  }

  /// The map from the whole picture's place in the input, if its shape is kept.
  package func letterbox(width: Int, height: Int, angle: Double = 0) -> SimilarityTransform {
    let scale = max(
      Double(width) / Double(self.input.width), Double(height) / Double(self.input.height))
    let center = PicturePoint(x: Double(width) / 2, y: Double(height) / 2)
    return SimilarityTransform(
      scale: scale, rotation: angle,
      from: PicturePoint(x: center.x / scale, y: center.y / scale), to: center)
  }

  /// The map from a square window's place in the input.
  package func letterbox(_ window: FaceSearch.Window, angle: Double) -> SimilarityTransform {
    let scale = window.side / Double(min(self.input.width, self.input.height))
    let half = window.side / scale / 2
    return SimilarityTransform(
      scale: scale, rotation: angle, from: PicturePoint(x: half, y: half), to: window.center)
  }

  /// Returns the whole picture, stretched to the input.
  package func stretched(_ picture: ColorPicture) -> Tensor {
    let steps = (
      x: Double(picture.width) / Double(self.input.width),
      y: Double(picture.height) / Double(self.input.height)
    )
    return self.sample(
      picture, first: PicturePoint(x: steps.x / 2, y: steps.y / 2),
      column: PicturePoint(x: steps.x, y: 0), row: PicturePoint(x: 0, y: steps.y))
  }

  /// Returns the part of a picture that the transform maps the input to.
  package func window(_ picture: ColorPicture, _ transform: SimilarityTransform) -> Tensor {
    let first = transform(PicturePoint(x: 0.5, y: 0.5))
    let column = transform(PicturePoint(x: 1.5, y: 0.5))
    let row = transform(PicturePoint(x: 0.5, y: 1.5))
    return self.sample(
      picture, first: first,
      column: PicturePoint(x: column.x - first.x, y: column.y - first.y),
      row: PicturePoint(x: row.x - first.x, y: row.y - first.y))
  }

  /// Samples at `first + x * column + y * row`.
  private func sample(
    _ whole: ColorPicture, first: PicturePoint, column: PicturePoint, row: PicturePoint
  ) -> Tensor {
    let step = min(
      (column.x * column.x + column.y * column.y).squareRoot(),
      (row.x * row.x + row.y * row.y).squareRoot())
    let factor = max(1, Int(min(step + 1e-9, 4096)))
    let picture = factor > 1 ? Self.reduced(whole, by: factor) : whole
    let shrink = 1 / Double(factor)

    let area = self.input.width * self.input.height
    let isPlanar = self.input.layout == .nchw
    let pixelStride = isPlanar ? 1 : 3
    let channelStride = isPlanar ? area : 1
    // The positions of red, green and blue in the input.
    let places = self.input.order == .rgb ? (0, 1, 2) : (2, 1, 0)
    let scale = self.input.scale.map(Float.init)
    let offset = zip(self.input.scale, self.input.mean).map { Float(-$0 * $1) }
    var values = [Float](repeating: 0, count: 3 * area)

    var output = values.mutableSpan
    let samples = picture.samples.span
    let (width, height) = (picture.width, picture.height)
    let right = Double(width)
    let bottom = Double(height)
    for y in 0 ..< self.input.height {
      for x in 0 ..< self.input.width {
        let px = (first.x + Double(x) * column.x + Double(y) * row.x) * shrink
        let py = (first.y + Double(x) * column.y + Double(y) * row.y) * shrink
        var red: Float = 0
        var green: Float = 0
        var blue: Float = 0
        if px >= 0, py >= 0, px <= right, py <= bottom {
          let fx = max(0, min(right - 1, px - 0.5))
          let fy = max(0, min(bottom - 1, py - 0.5))
          let (x0, y0) = (Int(fx), Int(fy))
          let (wx, wy) = (Float(fx - Double(x0)), Float(fy - Double(y0)))
          let top = 3 * (y0 * width + x0)
          let nextX = x0 + 1 < width ? 3 : 0
          let nextY = y0 + 1 < height ? 3 * width : 0
          func mix(_ channel: Int) -> Float {
            let a = Float(samples[top + channel])
            let b = Float(samples[top + nextX + channel])
            let c = Float(samples[top + nextY + channel])
            let d = Float(samples[top + nextY + nextX + channel])
            let upper = a + (b - a) * wx
            let lower = c + (d - c) * wx
            return upper + (lower - upper) * wy
          }
          red = mix(0)
          green = mix(1)
          blue = mix(2)
        }
        let place = (y * self.input.width + x) * pixelStride
        output[place + places.0 * channelStride] = red * scale[places.0] + offset[places.0]
        output[place + places.1 * channelStride] = green * scale[places.1] + offset[places.1]
        output[place + places.2 * channelStride] = blue * scale[places.2] + offset[places.2]
      }
    }
    let dimensions =
      isPlanar
      ? [1, 3, self.input.height, self.input.width] : [1, self.input.height, self.input.width, 3]
    return Tensor(dimensions: dimensions, values: values)
  }

  /// Averages squares of pixels, rounded to the nearest level. Squares at the right and the bottom
  /// repeat the pixels at the edge.
  private static func reduced(_ picture: ColorPicture, by factor: Int) -> ColorPicture {
    let width = (picture.width + factor - 1) / factor
    let height = (picture.height + factor - 1) / factor
    var result = [UInt8](repeating: 0, count: 3 * width * height)
    var output = result.mutableSpan
    let samples = picture.samples.span
    let count = factor * factor
    for y in 0 ..< height {
      for x in 0 ..< width {
        var sums = (count / 2, count / 2, count / 2)
        for v in y * factor ..< (y + 1) * factor {
          let line = min(v, picture.height - 1) * picture.width
          for u in x * factor ..< (x + 1) * factor {
            let place = 3 * (line + min(u, picture.width - 1))
            sums.0 += Int(samples[place])
            sums.1 += Int(samples[place + 1])
            sums.2 += Int(samples[place + 2])
          }
        }
        let place = 3 * (y * width + x)
        output[place] = UInt8(sums.0 / count)
        output[place + 1] = UInt8(sums.1 / count)
        output[place + 2] = UInt8(sums.2 / count)
      }
    }
    return ColorPicture(width: width, height: height, samples: result)
  }
}
