import SidelightKernels
import SidelightScene
import SidelightVision
import Testing

@Suite struct `Inputs of models` {
  private func input(
    _ layout: ModelDescription.Layout = .nchw, _ width: Int, _ height: Int,
    order: ModelDescription.ChannelOrder = .rgb, scale: [Double] = [1, 1, 1],
    mean: [Double] = [0, 0, 0]
  ) -> ModelDescription.Input {
    ModelDescription.Input(
      name: "x", layout: layout, width: width, height: height, order: order, scale: scale,
      mean: mean, fit: .stretch)
  }

  @Test(arguments: [(5, 3), (1, 1), (16, 9)])
  func `layout, order, scale and mean place every sample`(size: (width: Int, height: Int)) {
    let picture = TestPictures.noise(width: size.width, height: size.height)
    for layout in [ModelDescription.Layout.nchw, .nhwc] {
      for order in [ModelDescription.ChannelOrder.rgb, .bgr] {
        let scale = [0.5, 0.25, 2]
        let mean = [1.0, 2, 3]
        let tensor = PictureSampler(
          self.input(
            layout, size.width, size.height, order: order, scale: scale, mean: mean)
        ).stretched(picture)
        let area = size.width * size.height
        for index in 0 ..< area {
          for channel in 0 ..< 3 {
            let sample = picture.samples[3 * index + (order == .rgb ? channel : 2 - channel)]
            let place = layout == .nchw ? channel * area + index : 3 * index + channel
            #expect(
              tensor.values[place] == Float((Double(sample) - mean[channel]) * scale[channel]))
          }
        }
      }
    }
  }

  @Test func `sizes between half and twice are interpolated between the centres of pixels`() {
    let picture = TestPictures.noise(width: 20, height: 11)
    for (width, height) in [(13, 7), (20, 11), (31, 17), (40, 22)] {
      let tensor = PictureSampler(self.input(.nhwc, width, height)).stretched(picture)
      for y in 0 ..< height {
        for x in 0 ..< width {
          for channel in 0 ..< 3 {
            let expected = TestPictures.level(
              picture, (Double(x) + 0.5) * 20 / Double(width),
              (Double(y) + 0.5) * 11 / Double(height), channel)
            #expect(abs(Double(tensor.values[3 * (y * width + x) + channel]) - expected) < 0.001)
          }
        }
      }
    }
  }

  @Test func `pictures of several times the size are averaged`() {
    let picture = TestPictures.noise(width: 24, height: 12)
    let tensor = PictureSampler(self.input(.nhwc, 6, 3)).stretched(picture)
    for y in 0 ..< 3 {
      for x in 0 ..< 6 {
        for channel in 0 ..< 3 {
          var sum = 0
          for v in 0 ..< 4 {
            for u in 0 ..< 4 {
              sum += Int(picture.samples[3 * ((4 * y + v) * 24 + 4 * x + u) + channel])
            }
          }
          #expect(abs(tensor.values[3 * (y * 6 + x) + channel] - Float(sum) / 16) <= 0.5)
        }
      }
    }
  }

  @Test func `a letterboxed picture starts at the top left, and the rest is 0`() {
    let picture = ColorPicture(
      width: 16, height: 9, samples: [UInt8](repeating: 200, count: 3 * 16 * 9))
    let sampler = PictureSampler(self.input(.nhwc, 8, 8))
    let tensor = sampler.window(picture, sampler.letterbox(width: 16, height: 9))
    for y in 0 ..< 8 {
      // 9 rows at half the size are 4.5 rows; the middle of the fifth is at their end.
      let expected: Float = y <= 4 ? 200 : 0
      #expect((0 ..< 8).allSatisfy { tensor.values[3 * (y * 8 + $0)] == expected })
    }
  }

  @Test func `the transform of a window maps its centre to the window's and turns about it`() {
    let sampler = PictureSampler(self.input(.nhwc, 32, 32))
    let center = PicturePoint(x: 100, y: 60)
    let window = FaceSearch.Window(center: center, side: 64)
    let transform = sampler.letterbox(window, angle: .pi / 2)
    let middle = transform(PicturePoint(x: 16, y: 16))
    #expect(abs(middle.x - 100) < 1e-9 && abs(middle.y - 60) < 1e-9)
    // A quarter turn clockwise: the right of the window is below in the picture.
    let right = transform(PicturePoint(x: 32, y: 16))
    #expect(abs(right.x - 100) < 1e-9 && abs(right.y - 92) < 1e-9)
  }
}
