#if Codecs
  import CDav1d
  import SidelightKernels

  /// A decoder of dav1d.
  @safe
  final class Dav1dDecoder: VideoDecoderLibrary {
    private let handle: OpaquePointer

    init(limits: ImageLimits) throws(CodecError) {
      let maxPixels = UInt32(clamping: max(1, limits.maxPixels))
      guard let handle = unsafe cdav1d_decoder_create(maxPixels) else {
        throw CodecError(.failed, "dav1d has no memory for a decoder")
      }
      unsafe self.handle = handle
    }

    deinit { unsafe cdav1d_decoder_destroy(self.handle) }

    func decode(_ unit: UnsafeBufferPointer<UInt8>) throws(CodecError) -> DecodedPicture {
      var count: Int32 = 0
      var picture = cdav1d_picture()
      let state = unsafe cdav1d_decode(
        self.handle, unit.baseAddress, unit.count, &count, &picture)
      guard state == 0 else {
        throw CodecError(.corrupt, "the picture is damaged (dav1d: error \(state))")
      }
      return try unsafe DecodedPicture(
        count: count, planes: [picture.planes.0, picture.planes.1, picture.planes.2],
        strides: [picture.strides.0, picture.strides.1, picture.strides.2],
        width: picture.width, height: picture.height)
    }
  }
#endif
