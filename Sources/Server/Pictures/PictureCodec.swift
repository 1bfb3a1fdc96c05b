import SidelightCodecs
import SidelightKernels
import SidelightWire

/// Decodes and encodes image files, as passes with a span per pass, on the compute threads.
/// Sessions, `Apply` and the command line use it.
struct PictureCodec: Sendable {
  /// A file that cannot be decoded although its header is valid.
  struct Unreadable: Error {
    /// The decoder's error.
    var error: CodecError

    /// Returns the error for the image of the file. The field is relative to the image.
    func violation(in image: Sidelight_V1_Image) -> FieldViolation {
      FieldViolation(self.error, in: image)
    }
  }

  let pool: BufferPool
  let jpeg: JPEGCodec
  /// The limits of a picture's size.
  let limits: ImageLimits

  init(pool: BufferPool, limits: ImageLimits, threads: Int) {
    self.pool = pool
    self.limits = limits
    self.jpeg = JPEGCodec(pool: pool, limits: limits, maxIdleInstances: threads)
  }

  /// Returns the frame of a picture. Blocks while it decodes.
  ///
  /// - Throws: ``Unreadable``, as the cause of the observer's error.
  func decode(
    _ picture: IncomingPicture, observer: some PassObserver = NoPassObserver()
  ) async throws -> Frame {
    switch picture {
    case .frame(let frame): return frame
    case .video(let picture):
      // Sessions decode in front of the mailbox.
      guard let frame = picture.frame else {
        preconditionFailure("a picture of a stream is decoded in the order of arrival")
      }
      return frame
    case .file(let bytes, let form):
      let frame = try await observer.pass(.jpegDecode) {
        do throws(CodecError) {
          return try bytes.withFile { file throws(CodecError) in
            try self.jpeg.decode(file, as: form.geometry.format)
          }
        } catch {
          throw Unreadable(error: error)
        }
      }
      return frame.shown(form.orientation)
    }
  }

  /// Encodes a frame as a JPEG file, and calls `body` with it. Blocks while it encodes.
  ///
  /// - Throws: `CodecError`, as the cause of the observer's error; or the error of `body`.
  func withJPEG<Result: Sendable>(
    of frame: Frame, _ settings: JPEGSettings, observer: some PassObserver = NoPassObserver(),
    _ body: (RawSpan) throws -> Result
  ) async throws -> Result {
    try await observer.pass(.jpegEncode) {
      try self.jpeg.withEncoded(frame, settings) { file in
        Swift.Result { try body(file) }
      }
    }.get()
  }
}

extension PassDescription {
  static let jpegDecode = PassDescription(
    filters: ["jpegDecode"], kind: .codec, summary: "a JPEG file decoded")
  static let jpegEncode = PassDescription(
    filters: ["jpegEncode"], kind: .codec, summary: "encoded as a JPEG file")
}

extension Frame {
  func shown(_ orientation: Orientation) -> Frame {
    Frame(layout: self.layout, color: self.color, orientation: orientation, buffer: self.buffer)
  }

  /// Returns the frame with another meaning of its samples.
  func colored(_ color: ColorDescription) -> Frame {
    Frame(layout: self.layout, color: color, orientation: self.orientation, buffer: self.buffer)
  }
}
