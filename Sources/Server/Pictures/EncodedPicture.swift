import GRPCCore
package import SidelightCodecs
package import SidelightKernels
import SidelightWire

/// A picture of a stream of encoded video.
package struct EncodedPicture: Sendable {
  package let codec: VideoCodec
  /// The access unit, in memory that the client cannot write to.
  package let bytes: PixelBuffer
  /// The header, read before the decoder sees the bytes.
  package let header: VideoHeader
  package let form: PictureForm
  /// The decoded picture, or `nil` before it is decoded.
  package private(set) var frame: Frame?

  init(codec: VideoCodec, bytes: PixelBuffer, header: VideoHeader, orientation: Orientation) {
    self.codec = codec
    self.bytes = bytes
    self.header = header
    self.form = PictureForm(
      coding: .video(codec),
      geometry: FrameGeometry(format: .i420, size: header.size, color: header.color),
      orientation: orientation)
  }

  /// The bytes of the decoded samples, which limits on bytes per second count.
  var decodedByteCount: Int { self.header.size.pixelCount * 3 / 2 }

  /// Returns the picture with its samples.
  func decoded(as frame: Frame) -> EncodedPicture {
    var picture = self
    picture.frame = frame
    return picture
  }
}

/// Reads the headers of a session's encoded pictures, in the order of arrival.
struct EncodedPictureReader {
  private let limits: FrameLimits
  private var codec: VideoCodec?
  private var headers: VideoHeaderReader?

  /// Why a picture for which ``picture(_:_:over:)`` returns `nil` cannot be decoded.
  var missing: KeyFrameReason { self.headers == nil ? .start : .loss }

  /// - Parameter limits: The limits of a picture's size.
  init(limits: FrameLimits) {
    self.limits = limits
  }

  /// Checks the description of an image against the header of its access unit.
  ///
  /// - Parameters:
  ///   - codec: The codec of the image's format.
  ///   - bytes: The access unit, if any, in memory that the client cannot write to.
  /// - Returns: `nil` if the header shows that the picture depends on one that has not arrived.
  /// - Throws: ``FieldViolation`` whose field is relative to the image.
  mutating func picture(
    _ image: Sidelight_V1_Image, _ codec: VideoCodec, over bytes: PixelBuffer?
  ) throws(FieldViolation) -> EncodedPicture? {
    guard codec.canDecode else {
      throw FieldViolation(lacking: codec, field: "format", to: "decode")
    }
    let bytes = try image.checkCompressed(bytes)
    if self.codec != codec {
      self.codec = codec
      self.headers = nil
    }
    var headers =
      self.headers
      ?? VideoHeaderReader(
        codec: codec,
        limits: ImageLimits(
          maxPixels: self.limits.maxPixels, maxDimension: self.limits.maxDimension))
    var header: VideoHeader
    do throws(CodecError) {
      header = try bytes.withFile { unit throws(CodecError) in try headers.header(of: unit) }
    } catch {
      if error.code == .missingReference { return nil }
      throw FieldViolation(error, in: image)
    }
    self.headers = headers
    guard !image.encoded.keyFrame || header.isKeyFrame else {
      throw FieldViolation(
        field: "encoded.key_frame", reason: "is set, and the picture is not a key frame")
    }
    try image.check(stated: header.size)
    if codec == .vp8 {
      // Its bitstream does not state colours, and browsers do not all use the same.
      let color = ColorDescription(image.color)
      (header.color.range, header.color.matrix) = (color.range, color.matrix)
    }
    return EncodedPicture(
      codec: codec, bytes: bytes, header: header, orientation: try Orientation(image.orientation))
  }
}

extension FieldViolation {
  /// Reports that this build cannot decode or encode a codec.
  init(lacking codec: VideoCodec, field: String, to verb: String) {
    self.init(
      code: .unimplemented, field: field,
      reason: codec.library == nil
        ? "is \(codec.name), which this server was built without"
        : "is \(codec.name), which this server does not \(verb)")
  }
}
