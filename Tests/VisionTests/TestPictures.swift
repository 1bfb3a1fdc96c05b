import Foundation
import SidelightCodecs
import SidelightKernels
import SidelightScene

/// Pictures to test with.
enum TestPictures {
  /// The folder of photographs that the environment names.
  static let folder = ProcessInfo.processInfo.environment["SIDELIGHT_TEST_MEDIA"].flatMap {
    $0.isEmpty ? nil : $0
  }

  /// A portrait of a woman who faces the camera, 512x512.
  static func portrait() throws -> ColorPicture {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try self.decode(root.appendingPathComponent("Examples/media/portrait.jpg"))
  }

  /// The canonical box of the face in the portrait: the mean of the boxes that the cascade alt2
  /// finds at several sizes.
  static let faceCenter = PicturePoint(x: 224, y: 114.5)
  static let faceSize = 101.0

  /// Reads a photograph of the folder.
  static func read(_ name: String) throws -> ColorPicture {
    try self.decode(URL(fileURLWithPath: self.folder ?? ".").appendingPathComponent(name))
  }

  private static func decode(_ file: URL) throws -> ColorPicture {
    let frame = try ImageDecoder(pool: BufferPool())
      .decode([UInt8](try Data(contentsOf: file)))
    return self.picture(of: frame)
  }

  /// The picture of an RGB or RGBA frame.
  static func picture(of frame: Frame) -> ColorPicture {
    let stride = frame.format == .rgba8 ? 4 : 3
    let samples = (0 ..< frame.size.height).flatMap { y in
      frame.withRow(y) { row in
        (0 ..< frame.size.width).flatMap { x in
          (0 ..< 3).map { unsafe row.unsafeLoad(fromByteOffset: stride * x + $0, as: UInt8.self) }
        }
      }
    }
    return ColorPicture(width: frame.size.width, height: frame.size.height, samples: samples)
  }

  /// The frame of a picture.
  static func frame(_ picture: ColorPicture) throws -> Frame {
    let size = FrameSize(width: picture.width, height: picture.height)
    var frame = try BufferPool().makeFrame(FrameGeometry(format: .rgb24, size: size))
    for y in 0 ..< size.height {
      frame.withMutableRow(y) { row in
        for index in 0 ..< 3 * size.width {
          row.storeBytes(
            of: picture.samples[3 * size.width * y + index], toByteOffset: index, as: UInt8.self)
        }
      }
    }
    return frame.finish()
  }

  /// A picture of random levels.
  static func noise(width: Int, height: Int, seed: UInt64 = 1) -> ColorPicture {
    var random = TestRandom(state: seed)
    return ColorPicture(
      width: width, height: height,
      samples: (0 ..< 3 * width * height).map { _ in UInt8.random(in: 0 ... 255, using: &random) })
  }

  /// A picture with left and right exchanged about the centre of the portrait's face.
  static func mirrored(_ source: ColorPicture) -> ColorPicture {
    var samples = source.samples
    let sum = Int(2 * Self.faceCenter.x) - 1
    for y in 0 ..< source.height {
      for x in 0 ..< source.width {
        let from = min(max(sum - x, 0), source.width - 1)
        for channel in 0 ..< 3 {
          samples[3 * (source.width * y + x) + channel] =
            source.samples[3 * (source.width * y + from) + channel]
        }
      }
    }
    return ColorPicture(width: source.width, height: source.height, samples: samples)
  }

  /// Another picture, turned about a point, scaled and moved: `center` of the source appears at
  /// `place`. The rest is grey.
  static func placed(
    _ source: ColorPicture, center: PicturePoint, at place: PicturePoint, scale: Double,
    roll: Double = 0, width: Int = 320, height: Int = 180
  ) -> ColorPicture {
    let parts = 3
    var samples: [UInt8] = []
    samples.reserveCapacity(3 * width * height)
    for y in 0 ..< height {
      for x in 0 ..< width {
        var sums = [0.0, 0.0, 0.0]
        for part in 0 ..< parts * parts {
          let dx = Double(x) + (Double(part % parts) + 0.5) / Double(parts) - place.x
          let dy = Double(y) + (Double(part / parts) + 0.5) / Double(parts) - place.y
          let u = center.x + (dx * cos(roll) + dy * sin(roll)) / scale
          let v = center.y + (dy * cos(roll) - dx * sin(roll)) / scale
          for channel in 0 ..< 3 { sums[channel] += self.level(source, u, v, channel) }
        }
        samples += sums.map { UInt8(min(255, ($0 / Double(parts * parts)).rounded())) }
      }
    }
    return ColorPicture(width: width, height: height, samples: samples)
  }

  /// The level between the centres of four pixels.
  static func level(_ source: ColorPicture, _ u: Double, _ v: Double, _ channel: Int) -> Double {
    guard u >= 0, v >= 0, u <= Double(source.width), v <= Double(source.height) else { return 128 }
    let x = min(Double(source.width - 1), max(0, u - 0.5))
    let y = min(Double(source.height - 1), max(0, v - 0.5))
    func at(_ column: Int, _ row: Int) -> Double {
      let place = min(row, source.height - 1) * source.width + min(column, source.width - 1)
      return Double(source.samples[3 * place + channel])
    }
    let (i, j) = (Int(x), Int(y))
    let (a, b) = (x - Double(i), y - Double(j))
    return (at(i, j) * (1 - a) + at(i + 1, j) * a) * (1 - b)
      + (at(i, j + 1) * (1 - a) + at(i + 1, j + 1) * a) * b
  }
}

/// A sequence of random numbers that repeats with its seed.
struct TestRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var value = self.state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
