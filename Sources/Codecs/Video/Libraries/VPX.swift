#if Codecs
  import CVPX
  import SidelightKernels

  /// A decoder of libvpx.
  @safe
  final class VPXDecoder: VideoDecoderLibrary {
    private let handle: OpaquePointer

    init(isVP9: Bool) throws(CodecError) {
      guard let handle = unsafe cvpx_decoder_create(isVP9 ? 1 : 0) else {
        throw CodecError(.failed, "libvpx has no memory for a decoder")
      }
      unsafe self.handle = handle
    }

    deinit { unsafe cvpx_decoder_destroy(self.handle) }

    func decode(_ unit: UnsafeBufferPointer<UInt8>) throws(CodecError) -> DecodedPicture {
      var count: Int32 = 0
      var picture = cvpx_picture()
      switch unsafe cvpx_decode(self.handle, unit.baseAddress, unit.count, &count, &picture) {
      case 0: break
      case -1:
        let reason = unsafe String(cString: cvpx_decoder_error(self.handle))
        throw CodecError(.corrupt, "the picture is damaged (libvpx: \(reason))")
      case -3: throw CodecError(.unsupported, "only 8 bits and 4:2:0 are supported")
      default: throw CodecError(.corrupt, "the picture is damaged")
      }
      return try unsafe DecodedPicture(
        count: count, planes: [picture.planes.0, picture.planes.1, picture.planes.2],
        strides: [picture.strides.0, picture.strides.1, picture.strides.2],
        width: picture.width, height: picture.height)
    }
  }

  /// An encoder of libvpx.
  @safe
  final class VPXEncoder: VideoEncoderLibrary {
    private let handle: OpaquePointer

    init(_ settings: VideoEncoderSettings) throws(CodecError) {
      let isVP9 = settings.codec == .vp9
      var options = cvpx_settings()
      options.is_vp9 = isVP9 ? 1 : 0
      options.width = Int32(settings.size.width)
      options.height = Int32(settings.size.height)
      options.bit_rate = Self.kilobits(settings.bitRate)
      options.frame_rate = settings.frameRate
      options.temporal_layers = Int32(settings.temporalLayers)
      options.speed =
        switch settings.effort {
        case .fast: isVP9 ? 9 : 12
        case .balanced: isVP9 ? 8 : 8
        case .best: isVP9 ? 6 : 4
        }
      options.is_full_range = settings.color.range == .full ? 1 : 0
      options.is_bt709 = settings.color.matrix == .bt709 ? 1 : 0
      guard let handle = unsafe cvpx_encoder_create(&options) else {
        throw CodecError(.failed, "libvpx cannot encode \(settings.size)")
      }
      unsafe self.handle = handle
    }

    deinit { unsafe cvpx_encoder_destroy(self.handle) }

    func update(bitRate: Int, frameRate: Double) throws(CodecError) {
      let rate = Self.kilobits(bitRate)
      guard unsafe cvpx_encoder_set_rates(self.handle, rate, frameRate) == 0 else {
        throw CodecError(.failed, "libvpx refuses \(rate) kbit/s: \(self.reason)")
      }
    }

    func encode(
      _ frame: Frame, forcesKeyFrame: Bool, milliseconds: Int
    ) throws(CodecError) -> (unit: UnsafeRawBufferPointer, temporalLayer: Int) {
      defer { extendLifetime(frame) }
      var picture = cvpx_picture()
      unsafe picture.planes = unsafe (
        frame.baseAddress(plane: 0), frame.baseAddress(plane: 1), frame.baseAddress(plane: 2)
      )
      let strides = frame.layout.planes.map { Int32($0.stride) }
      picture.strides = (strides[0], strides[1], strides[2])
      picture.width = Int32(frame.size.width)
      picture.height = Int32(frame.size.height)
      var (bytes, count, layer): (UnsafePointer<UInt8>?, Int, Int32) = (nil, 0, 0)
      let state = unsafe cvpx_encode(
        self.handle, &picture, forcesKeyFrame ? 1 : 0, &bytes, &count, &layer)
      guard state == 0 else {
        throw CodecError(.failed, "libvpx cannot encode the picture: \(self.reason)")
      }
      return unsafe (UnsafeRawBufferPointer(start: bytes, count: count), Int(layer))
    }

    private var reason: String { unsafe String(cString: cvpx_encoder_error(self.handle)) }

    private static func kilobits(_ bits: Int) -> Int32 { Int32(max(1, (bits + 500) / 1000)) }
  }
#endif
