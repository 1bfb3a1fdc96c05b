#if Codecs
  import COpenH264
  import SidelightKernels

  /// A decoder of OpenH264.
  @safe
  final class OpenH264Decoder: VideoDecoderLibrary {
    private let handle: OpaquePointer

    init() throws(CodecError) {
      guard let handle = unsafe copenh264_decoder_create() else {
        throw CodecError(.failed, "OpenH264 has no memory for a decoder")
      }
      unsafe self.handle = handle
    }

    deinit { unsafe copenh264_decoder_destroy(self.handle) }

    func decode(_ unit: UnsafeBufferPointer<UInt8>) throws(CodecError) -> DecodedPicture {
      var count: Int32 = 0
      var picture = copenh264_picture()
      let state = unsafe copenh264_decode(
        self.handle, unit.baseAddress, unit.count, &count, &picture)
      guard state == 0 else {
        throw CodecError(
          .corrupt, "the picture is damaged (OpenH264: state 0x\(String(state, radix: 16)))")
      }
      return try unsafe DecodedPicture(
        count: count, planes: [picture.planes.0, picture.planes.1, picture.planes.2],
        strides: [picture.strides.0, picture.strides.1, picture.strides.2],
        width: picture.width, height: picture.height)
    }
  }

  /// An encoder of OpenH264.
  @safe
  final class OpenH264Encoder: VideoEncoderLibrary {
    private let handle: OpaquePointer

    init(_ settings: VideoEncoderSettings) throws(CodecError) {
      let rates = Self.rates(settings.bitRate, settings.frameRate)
      var options = copenh264_settings()
      options.width = Int32(settings.size.width)
      options.height = Int32(settings.size.height)
      options.bit_rate = rates.bits
      options.frame_rate = rates.frames
      options.temporal_layers = Int32(settings.temporalLayers)
      options.complexity =
        switch settings.effort {
        case .fast: 0
        case .balanced: 1
        case .best: 2
        }
      options.is_full_range = settings.color.range == .full ? 1 : 0
      options.is_bt709 = settings.color.matrix == .bt709 ? 1 : 0
      guard let handle = unsafe copenh264_encoder_create(&options) else {
        throw CodecError(.failed, "OpenH264 cannot encode \(settings.size)")
      }
      unsafe self.handle = handle
    }

    deinit { unsafe copenh264_encoder_destroy(self.handle) }

    func update(bitRate: Int, frameRate: Double) throws(CodecError) {
      let rates = Self.rates(bitRate, frameRate)
      guard unsafe copenh264_encoder_set_rates(self.handle, rates.bits, rates.frames) == 0 else {
        throw CodecError(.failed, "OpenH264 refuses \(rates.bits) bits per second")
      }
    }

    func encode(
      _ frame: Frame, forcesKeyFrame: Bool, milliseconds: Int
    ) throws(CodecError) -> (unit: UnsafeRawBufferPointer, temporalLayer: Int) {
      defer { extendLifetime(frame) }
      var picture = copenh264_picture()
      unsafe picture.planes = unsafe (
        frame.baseAddress(plane: 0), frame.baseAddress(plane: 1), frame.baseAddress(plane: 2)
      )
      let strides = frame.layout.planes.map { Int32($0.stride) }
      picture.strides = (strides[0], strides[1], strides[2])
      var (bytes, count, layer): (UnsafePointer<UInt8>?, Int, Int32) = (nil, 0, 0)
      let state = unsafe copenh264_encode(
        self.handle, &picture, forcesKeyFrame ? 1 : 0, Int64(milliseconds), &bytes, &count, &layer)
      guard state == 0 else {
        throw CodecError(.failed, "OpenH264 cannot encode the picture (error \(state))")
      }
      return unsafe (UnsafeRawBufferPointer(start: bytes, count: count), Int(layer))
    }

    /// The library's frame rates end at 60. Other rates keep the bits per frame.
    private static func rates(_ bits: Int, _ frames: Double) -> (bits: Int32, frames: Float) {
      let clamped = min(60, max(1, frames))
      return (Int32(min(240e6, Double(bits) * clamped / frames)), Float(clamped))
    }
  }
#endif
