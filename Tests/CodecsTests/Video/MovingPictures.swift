import Foundation
import SidelightCodecs
import SidelightKernels

/// Moving pictures of a photograph.
struct MovingPictures {
  /// The movement of the camera.
  enum Motion: CaseIterable {
    /// A pan of 3 pixels a frame.
    case pan
    /// A hand that shakes a little, as in calls.
    case call
    /// Nothing but the sensor's noise.
    case quiet
  }

  let size: FrameSize
  let motion: Motion
  let color: ColorDescription
  private let photograph: Frame

  init(
    _ size: FrameSize, _ motion: Motion = .pan, color: ColorDescription = ColorDescription()
  ) throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Examples/media/portrait.jpg")
    let bytes = [UInt8](try Data(contentsOf: file))
    self.photograph = try JPEGCodec(pool: Scene.pool).decode(bytes.span.bytes, as: .i420)
    self.size = size
    self.motion = motion
    self.color = color
  }

  /// The frame of an index.
  func frame(_ index: Int) throws -> Frame {
    var random = SeededRandom(seed: UInt64(index))
    let (dx, dy) =
      switch self.motion {
      case .pan: (3 * index, index)
      case .call: (Int(4 * sin(Double(index) / 9)), Int(3 * sin(Double(index) / 13)))
      case .quiet: (0, 0)
      }
    let planes = (0 ..< 3).map { plane in
      (0 ..< PixelFormat.i420.rowCount(plane: plane, height: self.photograph.size.height)).map {
        self.photograph.withRow($0, plane: plane) { row in row.withUnsafeBytes { [UInt8]($0) } }
      }
    }
    let noise = (0 ..< 1024).map { _ in Int.random(in: -2 ... 2, using: &random) }
    return try Scene.frame(.i420, self.size, color: self.color) { plane, row, column in
      let rows = planes[plane]
      let shift = plane == 0 ? 0 : 1
      let source = rows[Self.mirrored(row + dy >> shift, rows.count)]
      let value = Int(source[Self.mirrored(column + dx >> shift, source.count)])
      let position = UInt32(truncatingIfNeeded: row &* 7919 &+ column &* 104_729 &+ row &* column)
      return UInt8(min(235, max(16, value + noise[Int((position >> 3) & 1023)])))
    }
  }

  /// The position in a picture that repeats itself, mirrored.
  private static func mirrored(_ position: Int, _ count: Int) -> Int {
    let phase = (position % (2 * count) + 2 * count) % (2 * count)
    return phase < count ? phase : 2 * count - 1 - phase
  }
}

/// The ratio of the largest signal to the noise of luma, in dB.
func psnr(_ frame: Frame, _ other: Frame) -> Double {
  var sum = 0
  for row in 0 ..< frame.size.height {
    frame.withRow(row) { first in
      other.withRow(row) { second in
        first.withUnsafeBytes { a in
          second.withUnsafeBytes { b in
            for column in 0 ..< a.count {
              let difference = Int(a[column]) - Int(b[column])
              sum += difference * difference
            }
          }
        }
      }
    }
  }
  guard sum > 0 else { return 99 }
  return 10 * log10(255 * 255 * Double(frame.size.pixelCount) / Double(sum))
}

/// The units and facts of a stream.
struct EncodedStream {
  var units: [[UInt8]] = []
  var facts: [EncodedUnit] = []

  /// Encodes frames at the rate of the settings.
  mutating func encode(
    _ frames: [Frame], with encoder: VideoEncoder, keyFrames: Set<Int> = []
  ) throws {
    for frame in frames {
      let index = self.units.count
      try encoder.withEncoded(
        frame, forcesKeyFrame: keyFrames.contains(index),
        at: .seconds(Double(index) / encoder.settings.frameRate)
      ) { unit, facts in
        self.units.append(unit.withUnsafeBytes { [UInt8]($0) })
        self.facts.append(facts)
      }
    }
  }
}

extension VideoCodec {
  static let encoders: [VideoCodec] = Self.allCases.filter(\.canEncode)
}

extension VideoDecoder {
  func decode(_ unit: [UInt8]) throws(CodecError) -> Frame { try self.decode(unit.span.bytes) }
}

extension VideoHeaderReader {
  mutating func header(of unit: [UInt8]) throws(CodecError) -> VideoHeader {
    try self.header(of: unit.span.bytes)
  }
}
