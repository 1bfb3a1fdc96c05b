import Foundation
package import SidelightCodecs
package import SidelightKernels
package import SidelightWire
import SwiftProtobuf

/// A stream of encoded video, made for a test: a pattern that moves by two pixels per frame.
package struct EncodedStream: Sendable {
  /// The codecs that servers encode.
  package static let encodable: [VideoCodec] = [.h264, .vp8, .vp9]

  package let codec: VideoCodec
  /// The access units.
  package let units: [[UInt8]]
  /// The facts about the units.
  package let facts: [EncodedUnit]

  /// - Parameters:
  ///   - keyFrames: The frames that are key frames, in addition to the first.
  ///   - layers: The number of temporal layers.
  package init(
    _ codec: VideoCodec, _ width: Int = 96, _ height: Int = 64, count: Int,
    keyFrames: Set<Int> = [], layers: Int = 1
  ) throws {
    let encoder = try VideoEncoder(
      VideoEncoderSettings(
        codec: codec, size: FrameSize(width: width, height: height), bitRate: 800_000,
        temporalLayers: layers))
    var units: [[UInt8]] = []
    var facts: [EncodedUnit] = []
    for index in 0 ..< count {
      try encoder.withEncoded(
        Self.picture(index, width, height), forcesKeyFrame: keyFrames.contains(index),
        at: .milliseconds(33 * index)
      ) { bytes, unit in
        units.append(bytes.withUnsafeBytes { [UInt8]($0) })
        facts.append(unit)
      }
    }
    self.codec = codec
    self.units = units
    self.facts = facts
  }

  /// Returns the picture of a frame before it is encoded.
  package static func picture(_ index: Int, _ width: Int = 96, _ height: Int = 64) throws -> Frame {
    let source = try BufferPool().makeFrame(
      FrameGeometry(format: .i420, size: FrameSize(width: width, height: height)))
    let (layout, buffer) = (source.layout, source.buffer)
    let bytes = buffer.bytes
    for (plane, placed) in layout.planes.enumerated() {
      let (columns, rows) = plane == 0 ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
      for y in 0 ..< rows {
        for x in 0 ..< columns {
          let wave = sin(Double(x + 2 * index) / 7) + cos(Double(y) / 5)
          let value = plane == 0 ? 120 + 40 * wave : 128 + (plane == 1 ? 20 : -20) * wave
          bytes[placed.offset + y * placed.stride + x] = UInt8(value)
        }
      }
    }
    return Frame(layout: layout, color: ColorDescription(), buffer: buffer)
  }

  /// Returns the image of a frame.
  package func image(_ index: Int) -> Sidelight_V1_Image {
    .with {
      $0.format = Sidelight_V1_PixelFormat(EncodedFormat(rawValue: self.codec.rawValue) ?? .vp8)
      $0.inline = Data(self.units[index])
    }
  }

  /// Returns the decoded pictures of a stream's frames.
  package static func decode(_ images: [Sidelight_V1_Image], _ codec: VideoCodec) throws -> [Frame]
  {
    let decoder = try VideoDecoder(codec: codec, pool: BufferPool(), limits: ImageLimits())
    return try images.map { image in
      let unit = [UInt8](image.inline)
      return try decoder.decode(unit.span.bytes)
    }
  }

  /// The decoded pictures of the stream.
  package func decoded() throws -> [Frame] {
    try Self.decode(self.units.indices.map(self.image), self.codec)
  }
}

extension Frame {
  /// The peak signal-to-noise ratio of the luma of two frames, in dB.
  package func lumaPSNR(to other: Frame) -> Double {
    let count = self.size.pixelCount
    let sum = zip(self.bytes.prefix(count), other.bytes.prefix(count)).reduce(0.0) {
      let difference = Double($1.0) - Double($1.1)
      return $0 + difference * difference
    }
    return sum == 0 ? 99 : 10 * log10(255 * 255 * Double(count) / sum)
  }
}
