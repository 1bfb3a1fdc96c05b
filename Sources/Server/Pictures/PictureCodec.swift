import SidelightCodecs
import SidelightKernels
import SidelightWire

/// Between files and frames, as passes like any other: with a span of their own, in their turn, on
/// the compute threads. Sessions, `Apply` and the command line all come here.
struct PictureCodec: Sendable {
  /// A file turned out not to be what its header promised.
  struct Unreadable: Error {
    /// What is wrong with it.
    var error: CodecError

    /// The same as a fault of the image that the file came with; its field is relative to that.
    func fault(in image: Sidelight_V1_Image) -> FieldFault {
      FieldFault(self.error, in: image)
    }
  }

  let pool: BufferPool
  let jpeg: JPEGCodec
  /// Reads and writes PNG.
  let limits: ImageLimits

  init(pool: BufferPool, limits: ImageLimits, threads: Int) {
    self.pool = pool
    self.limits = limits
    self.jpeg = JPEGCodec(pool: pool, limits: limits, maxIdleInstances: threads)
  }

  /// The frame of a picture. Blocks while it decodes.
  ///
  /// - Throws: ``Unreadable``, as the cause of what the observer throws.
  func decode(
    _ picture: IncomingPicture, observer: some PassObserver = NoPassObserver()
  ) async throws -> Frame {
    switch picture {
    case .frame(let frame): return frame
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

  /// Encodes a frame as a JPEG, and lends the file for the length of a call. Blocks while it encodes.
  ///
  /// - Throws: `CodecError`, as the cause of what the observer throws; or what `body` throws.
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
  /// A JPEG file becomes a frame.
  static let jpegDecode = PassDescription(
    filters: ["jpegDecode"], kind: .codec, words: "a JPEG file decoded")
  /// A frame becomes a JPEG file.
  static let jpegEncode = PassDescription(
    filters: ["jpegEncode"], kind: .codec, words: "encoded as a JPEG file")
}

extension Frame {
  /// The same picture, to be shown so.
  func shown(_ orientation: Orientation) -> Frame {
    Frame(layout: self.layout, color: self.color, orientation: orientation, buffer: self.buffer)
  }
}
