package import SidelightKernels

/// One plane of samples in code values, in double precision, on which neighbourhood operations are
/// defined.
package struct ReferencePlane: Sendable, Hashable {
  /// Pixels per row.
  package let width: Int
  /// Rows.
  package let height: Int
  /// Channels per pixel.
  package let step: Int
  /// The plane's pixels per pixel of the frame along both axes: 1, or 1/2 for chroma.
  package let scale: Double
  /// Row by row, pixel by pixel, channel by channel.
  package var samples: [Double]
  /// The code values of an empty area, by channel.
  package var emptySamples: [Double] = []

  /// The code value of an empty area.
  package func empty(channel: Int) -> Double {
    channel < self.emptySamples.count ? self.emptySamples[channel] : 0
  }

  package init(width: Int, height: Int, step: Int, scale: Double, samples: [Double]) {
    self.width = width
    self.height = height
    self.step = step
    self.scale = scale
    self.samples = samples
  }

  /// The sample at a position. Beyond the edges, the sample at the edge.
  package subscript(x: Int, y: Int, channel: Int) -> Double {
    let x = min(max(x, 0), self.width - 1)
    let y = min(max(y, 0), self.height - 1)
    return self.samples[(y * self.width + x) * self.step + channel]
  }

  /// Returns a plane of the same shape, with samples from a function of the position.
  package func map(_ sample: (_ x: Int, _ y: Int, _ channel: Int) -> Double) -> ReferencePlane {
    var copy = self
    for y in 0 ..< self.height {
      for x in 0 ..< self.width {
        for channel in 0 ..< self.step {
          copy.samples[(y * self.width + x) * self.step + channel] = sample(x, y, channel)
        }
      }
    }
    return copy
  }
}

extension ReferencePlane {
  /// Returns a plane of the frame's size from a plane of half the size: every pixel gets the sample
  /// that it shares.
  package func spread(over size: FrameSize) -> ReferencePlane {
    var result = ReferencePlane(
      width: size.width, height: size.height, step: self.step, scale: 1,
      samples: Array(repeating: 0, count: size.width * size.height * self.step)
    ).map { x, y, channel in self[x / 2, y / 2, channel] }
    result.emptySamples = self.emptySamples
    return result
  }

  /// Returns the means over 2x2 pixels; at odd edges, over the existing pixels.
  package func shared() -> ReferencePlane {
    let (width, height) = ((self.width + 1) / 2, (self.height + 1) / 2)
    var result = ReferencePlane(
      width: width, height: height, step: self.step, scale: 0.5,
      samples: Array(repeating: 0, count: width * height * self.step)
    ).map { x, y, channel in
      // Beyond an odd edge the edge pixel repeats and counts twice, so the mean is correct.
      (self[2 * x, 2 * y, channel] + self[2 * x + 1, 2 * y, channel]
        + self[2 * x, 2 * y + 1, channel] + self[2 * x + 1, 2 * y + 1, channel]) / 4
    }
    result.emptySamples = self.emptySamples
    return result
  }
}

extension ReferencePlane {
  /// The plane with alpha limited to 0 ... 255 and premultiplied colour to -alpha ... 2 alpha;
  /// unchanged if the format doesn't have alpha or ignores it.
  func boundedByAlpha(of geometry: FrameGeometry) -> ReferencePlane {
    guard geometry.format.hasAlpha, geometry.color.alpha != .opaque else { return self }
    return self.map { x, y, channel in
      let alpha = min(max(self[x, y, 3], 0), 255)
      return channel == 3 ? alpha : min(max(self[x, y, channel], -alpha), 2 * alpha)
    }
  }
}
