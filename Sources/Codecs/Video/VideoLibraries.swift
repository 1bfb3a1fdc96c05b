import SidelightKernels

#if Codecs
  import CDav1d
  import COpenH264
  import CVPX
#endif

/// A library's decoder of one stream.
protocol VideoDecoderLibrary: AnyObject {
  /// Decodes the bytes of one access unit.
  ///
  /// - Returns: The only picture of the unit, valid until the next call.
  /// - Throws: ``CodecError`` with code `corrupt` or `failed`.
  func decode(_ unit: UnsafeBufferPointer<UInt8>) throws(CodecError) -> DecodedPicture
}

/// A library's encoder of one stream.
protocol VideoEncoderLibrary: AnyObject {
  /// Changes the rates.
  func update(bitRate: Int, frameRate: Double) throws(CodecError)

  /// Encodes a frame.
  ///
  /// - Returns: The access unit, valid until the next call, and its temporal layer.
  /// - Precondition: The frame is `i420` and has the size of the settings.
  func encode(
    _ frame: Frame, forcesKeyFrame: Bool, milliseconds: Int
  ) throws(CodecError) -> (unit: UnsafeRawBufferPointer, temporalLayer: Int)
}

/// An I420 picture in a library's memory.
@safe
struct DecodedPicture {
  let planes: [UnsafePointer<UInt8>]
  let strides: [Int]
  let size: FrameSize

  /// Creates a picture from a library's structure, after checking the number of pictures.
  init(
    count: Int32, planes: [UnsafePointer<UInt8>?], strides: [Int32], width: Int32, height: Int32
  ) throws(CodecError) {
    let present = unsafe planes.compactMap { unsafe $0 }
    guard count == 1, unsafe present.count == 3 else {
      throw CodecError(
        .corrupt, count == 1 ? "the picture is damaged" : "the unit gave \(count) pictures")
    }
    unsafe self.planes = present
    self.strides = strides.map { Int($0) }
    self.size = FrameSize(width: Int(width), height: Int(height))
  }

  /// Copies the picture to a frame of the pool.
  func frame(color: ColorDescription, pool: BufferPool) throws(CodecError) -> Frame {
    let frame: MutableFrame
    do {
      frame = try pool.makeFrame(FrameGeometry(format: .i420, size: self.size, color: color))
    } catch {
      throw CodecError(.limitExceeded, error.description)
    }
    for plane in 0 ..< 3 {
      let width = PixelFormat.i420.rowByteCount(plane: plane, width: self.size.width)
      let target = unsafe frame.baseAddress(plane: plane)
      for row in 0 ..< PixelFormat.i420.rowCount(plane: plane, height: self.size.height) {
        unsafe (target + row * frame.layout.planes[plane].stride)
          .update(from: self.planes[plane] + row * self.strides[plane], count: width)
      }
    }
    return frame.finish()
  }
}

#if Codecs
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
