package import SidelightCodecs
package import SidelightKernels
package import SidelightWire

/// A received picture, checked without decoding it.
package enum IncomingPicture: Sendable {
  /// Samples, in the transport's memory.
  case frame(Frame)
  /// A file, in the transport's memory.
  case file(PixelBuffer, PictureForm)
  /// A picture of a stream of encoded video.
  case video(EncodedPicture)

  /// The picture's form, as the message or the file's header states it.
  package var form: PictureForm {
    switch self {
    case .frame(let frame): PictureForm(frame)
    case .file(_, let form): form
    case .video(let picture): picture.form
    }
  }

  /// The received bytes.
  package var bytes: PixelBuffer {
    switch self {
    case .frame(let frame): frame.buffer
    case .file(let bytes, _): bytes
    case .video(let picture): picture.bytes
    }
  }

  /// Checks the description of an image against its bytes; for a JPEG file, against its header.
  /// Fast enough for the threads of the transport.
  ///
  /// - Parameters:
  ///   - pixels: The bytes of the image, if any. Compressed pictures must be in memory that the
  ///     client cannot write to: copy them out of shared memory first.
  ///   - limits: The limits of a picture's size.
  ///   - jpeg: Reads the header.
  /// - Throws: ``FieldViolation`` whose field is relative to the image.
  package init(
    _ image: Sidelight_V1_Image, over pixels: PixelBuffer?, limits: FrameLimits, jpeg: JPEGCodec
  ) throws(FieldViolation) {
    guard image.format == .jpeg else {
      self = .frame(try image.frame(over: pixels, limits: limits))
      return
    }
    let pixels = try image.checkCompressed(pixels)
    let header: JPEGHeader
    do throws(CodecError) {
      header = try pixels.withFile { file throws(CodecError) in try jpeg.header(of: file) }
    } catch {
      throw FieldViolation(error, in: image)
    }
    try image.check(stated: header.size)
    self = .file(
      pixels,
      PictureForm(
        coding: .jpeg, geometry: header.geometry, orientation: try Orientation(image.orientation)))
  }
}

extension Sidelight_V1_Image {
  /// Returns the bytes of a compressed picture, which has no planes.
  func checkCompressed(_ bytes: PixelBuffer?) throws(FieldViolation) -> PixelBuffer {
    guard let bytes else {
      throw FieldViolation(field: "pixels", reason: "no inline pixels were sent")
    }
    guard self.planes.isEmpty else {
      throw FieldViolation(
        field: "planes", reason: "has \(self.planes.count), a compressed picture has none")
    }
    return bytes
  }

  /// Checks the size that the message states, if any, against the size of the file.
  func check(stated size: FrameSize) throws(FieldViolation) {
    for (name, stated, actual) in [
      ("width", self.width, size.width), ("height", self.height, size.height),
    ] where stated != 0 && Int(stated) != actual {
      throw FieldViolation(field: name, reason: "is \(stated), the picture says \(actual)")
    }
  }
}

extension PixelBuffer {
  /// Calls `body` with the bytes.
  func withFile<Result>(
    _ body: (RawSpan) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(self.bytes).bytes)
  }
}

extension FieldViolation {
  /// Reports that the file of an image is invalid. The field is relative to the image.
  init(_ error: CodecError, in image: Sidelight_V1_Image) {
    self.init(field: image.isInSlot ? "shared_memory" : "inline", reason: "\(error)")
  }
}
