import SidelightClient
import SidelightCodecs

/// The device's encoder, whose rates and size the sender chooses.
struct Encoder {
  private let codec: VideoCodec
  private let pool = BufferPool()
  private var encoder: VideoEncoder?

  init(codec: VideoCodec) {
    self.codec = codec
  }

  /// Encodes a picture.
  ///
  /// - Returns: The access unit.
  mutating func encode(
    _ picture: Frame, _ next: EncodedSender.Next, at time: Duration
  ) throws -> [UInt8] {
    // H.264 has even sizes only.
    let size = FrameSize(width: next.target.width & ~1, height: next.target.height & ~1)
    let picture = try self.scaled(picture, to: size)
    if let encoder, encoder.settings.size == size {
      if encoder.settings.bitRate != next.target.bitRate {
        try encoder.update(bitRate: next.target.bitRate, frameRate: next.target.frameRate)
      }
    } else {
      self.encoder = try VideoEncoder(
        VideoEncoderSettings(
          codec: self.codec, size: size, bitRate: next.target.bitRate,
          frameRate: next.target.frameRate, color: picture.color))
    }
    return try self.encoder?.withEncoded(picture, forcesKeyFrame: next.isKeyFrame, at: time) {
      bytes, _ in
      bytes.withUnsafeBytes { [UInt8]($0) }
    } ?? []
  }

  /// Takes the nearest pixels; a camera delivers smaller pictures itself.
  private func scaled(_ picture: Frame, to size: FrameSize) throws -> Frame {
    guard picture.size != size else { return picture }
    let geometry = FrameGeometry(format: picture.format, size: size, color: picture.color)
    var result = try self.pool.makeFrame(geometry)
    for plane in 0 ..< picture.format.planeCount {
      let rows = picture.format.rowCount(plane: plane, height: picture.size.height)
      let targetRows = picture.format.rowCount(plane: plane, height: size.height)
      for row in 0 ..< targetRows {
        result.withMutableRow(row, plane: plane) { target in
          picture.withRow(row * rows / targetRows, plane: plane) { source in
            for x in 0 ..< target.byteCount {
              let value = source.unsafeLoad(
                fromByteOffset: x * source.byteCount / target.byteCount, as: UInt8.self)
              target.storeBytes(of: value, toByteOffset: x, as: UInt8.self)
            }
          }
        }
      }
    }
    return result.finish()
  }
}
