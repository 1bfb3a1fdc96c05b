import SidelightKernels

/// Pictures to test with.
enum Scene {
  static let pool = BufferPool()

  /// Sizes at which row ends, chroma pairs and strides differ.
  static let sizes = [(1, 1), (1, 7), (2, 2), (3, 5), (17, 9), (64, 33), (127, 2)]
    .map { FrameSize(width: $0.0, height: $0.1) }

  /// A frame with a sample per plane, row and byte of the row.
  static func frame(
    _ format: PixelFormat, _ size: FrameSize, color: ColorDescription = ColorDescription(),
    _ sample: (_ plane: Int, _ row: Int, _ column: Int) -> UInt8
  ) throws -> Frame {
    var frame = try self.pool.makeFrame(FrameGeometry(format: format, size: size, color: color))
    for plane in 0 ..< format.planeCount {
      for row in 0 ..< format.rowCount(plane: plane, height: size.height) {
        frame.withMutableRow(row, plane: plane) { bytes in
          for column in 0 ..< bytes.byteCount {
            bytes.storeBytes(of: sample(plane, row, column), toByteOffset: column, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }

  /// A frame of noise.
  static func noise(
    _ format: PixelFormat, _ size: FrameSize, color: ColorDescription = ColorDescription()
  ) throws -> Frame {
    var random = SeededRandom(seed: UInt64(size.width * 1000 + size.height))
    return try self.frame(format, size, color: color) { _, _, _ in
      UInt8.random(in: 0 ... 255, using: &random)
    }
  }

  /// A smooth picture with coloured slopes, as a JPEG likes it: at most 1.2 levels a pixel.
  static func slopes(_ format: PixelFormat, _ size: FrameSize) throws -> Frame {
    let samples = format.rowByteCount(plane: 0, width: 1)
    return try self.frame(format, size) { _, row, column in
      let x = min(1, Double(column / samples) / 128)
      let y = min(1, Double(row) / 128)
      return switch column % samples {
      case 0: UInt8(40 + 150 * x)
      case 1: UInt8(200 - 120 * y)
      case 2: UInt8(60 + 60 * x + 60 * y)
      default: 255
      }
    }
  }

  /// The bytes of a frame without padding, plane by plane.
  static func packed(_ frame: Frame) -> [UInt8] {
    var result: [UInt8] = []
    for plane in 0 ..< frame.format.planeCount {
      for row in 0 ..< frame.format.rowCount(plane: plane, height: frame.size.height) {
        frame.withRow(row, plane: plane) { bytes in
          bytes.withUnsafeBytes { result.append(contentsOf: $0) }
        }
      }
    }
    return result
  }
}

/// SplitMix64: the same numbers on every machine.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var z = self.state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
