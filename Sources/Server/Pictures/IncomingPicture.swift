package import SidelightCodecs
package import SidelightKernels
package import SidelightWire

/// A picture that came, found sound as far as one can tell without decoding it.
package enum IncomingPicture: Sendable {
  /// Samples, where the transport put them.
  case frame(Frame)
  /// A file, where the transport put it.
  case file(PixelBuffer, PictureForm)

  /// What it says of itself.
  package var form: PictureForm {
    switch self {
    case .frame(let frame): PictureForm(frame)
    case .file(_, let form): form
    }
  }

  /// As it came, byte by byte.
  package var bytes: PixelBuffer {
    switch self {
    case .frame(let frame): frame.buffer
    case .file(let bytes, _): bytes
    }
  }

  /// Checks what an image says of itself against the bytes that came with it; of a JPEG file the
  /// header. Cheap enough for the threads that carry the wire.
  ///
  /// - Parameters:
  ///   - pixels: What came with the image; `nil` if nothing did. A file must lie in memory that nobody
  ///     else can write to: one that came through shared memory is copied before this is called.
  ///   - limits: How large a picture may be.
  ///   - jpeg: Reads headers.
  /// - Throws: ``FieldFault`` whose field is relative to the image.
  package init(
    _ image: Sidelight_V1_Image, over pixels: PixelBuffer?, limits: FrameLimits, jpeg: JPEGCodec
  ) throws(FieldFault) {
    guard image.format == .jpeg else {
      self = .frame(try image.frame(over: pixels, limits: limits))
      return
    }
    guard let pixels else {
      throw FieldFault(field: "pixels", reason: "no inline pixels were sent")
    }
    guard image.planes.isEmpty else {
      throw FieldFault(field: "planes", reason: "has \(image.planes.count), a JPEG has none")
    }
    let header: JPEGHeader
    do throws(CodecError) {
      header = try pixels.withFile { file throws(CodecError) in try jpeg.header(of: file) }
    } catch {
      throw FieldFault(error, in: image)
    }
    try image.check(stated: header.size)
    self = .file(
      pixels,
      PictureForm(
        coding: .jpeg, geometry: header.geometry, orientation: try Orientation(image.orientation)))
  }
}

extension Sidelight_V1_Image {
  /// Checks the size that the message states, if it states one, against the file's own.
  func check(stated size: FrameSize) throws(FieldFault) {
    for (name, stated, own) in [
      ("width", self.width, size.width), ("height", self.height, size.height),
    ] where stated != 0 && Int(stated) != own {
      throw FieldFault(field: name, reason: "is \(stated), the file says \(own)")
    }
  }
}

extension PixelBuffer {
  /// Lends the bytes.
  func withFile<Result>(
    _ body: (RawSpan) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(self.bytes).bytes)
  }
}

extension FieldFault {
  /// What is wrong with the file that came with an image; the field is relative to that.
  init(_ error: CodecError, in image: Sidelight_V1_Image) {
    self.init(field: image.isInSlot ? "shared_memory" : "inline", reason: "\(error)")
  }
}
