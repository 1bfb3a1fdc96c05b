import CTurboJPEG
import SidelightKernels

/// Encodes one frame as a JPEG with one instance of libjpeg-turbo.
struct JPEGEncoder {
  let instance: JPEGInstance
  let pool: BufferPool
  let settings: JPEGSettings

  private static let flags = Int32(TJFLAG_NOREALLOC) | Int32(TJFLAG_ACCURATEDCT)

  /// - Parameter file: Where the file goes.
  /// - Returns: How many bytes of it the file takes.
  /// - Throws: ``CodecError`` with code `failed`.
  /// - Precondition: There is room for the largest file of the frame's size. Libraries up to 2.1 take
  ///   that for granted, whatever length they are given, and write on past the end.
  func encode(
    _ frame: Frame, into file: UnsafeMutableRawBufferPointer
  ) throws(CodecError) -> Int {
    precondition(file.count >= JPEGCodec.maxByteCount(of: frame.size, self.settings))
    // What a JPEG stores is YUV of full range by BT.601. A frame that is that already keeps its
    // samples.
    let isStoredForm =
      frame.format.isYUV && frame.color.range == .full && frame.color.matrix == .bt601
    guard isStoredForm, self.settings.subsampling == .quarter else {
      return try frame.withInterleavedPixels(keepingAlpha: false) { pixels throws(CodecError) in
        try unsafe self.encode(pixels, size: frame.size, into: file)
      }
    }
    let isEven = frame.size.width.isMultiple(of: 2) && frame.size.height.isMultiple(of: 2)
    if isEven, frame.format == .i420 { return try unsafe self.encode(planes: frame, into: file) }
    return try unsafe self.encode(planes: frame.evenPlanes(pool: self.pool), into: file)
  }

  private func encode(
    _ pixels: InterleavedPixels, size: FrameSize, into file: UnsafeMutableRawBufferPointer
  ) throws(CodecError) -> Int {
    let order =
      switch pixels.order {
      case .gray: TJPF_GRAY
      case .rgb: TJPF_RGB
      case .rgba: TJPF_RGBX
      case .bgra: TJPF_BGRX
      }
    let sampling = pixels.order == .gray ? TJSAMP_GRAY : self.settings.subsampling.library
    return try unsafe self.write(into: file) { start, count in
      unsafe tjCompress2(
        self.instance.handle, pixels.base, Int32(size.width), Int32(pixels.stride),
        Int32(size.height), Int32(order.rawValue), &start, &count, Int32(sampling.rawValue),
        Int32(self.settings.quality), Self.flags)
    }
  }

  /// - Precondition: The frame is `i420`, with samples up to the next even size.
  private func encode(
    planes frame: Frame, into file: UnsafeMutableRawBufferPointer
  ) throws(CodecError) -> Int {
    defer { extendLifetime(frame) }
    var starts: [UnsafePointer<UInt8>?] = unsafe (0 ..< 3).map {
      unsafe frame.baseAddress(plane: $0)
    }
    let strides = frame.layout.planes.map { Int32($0.stride) }
    return try unsafe self.write(into: file) { start, count in
      unsafe tjCompressFromYUVPlanes(
        self.instance.handle, &starts, Int32(frame.size.width), strides, Int32(frame.size.height),
        Int32(TJSAMP_420.rawValue), &start, &count, Int32(self.settings.quality), Self.flags)
    }
  }

  private func write(
    into file: UnsafeMutableRawBufferPointer,
    _ compress: (_ start: inout UnsafeMutablePointer<UInt8>?, _ count: inout UInt) -> Int32
  ) throws(CodecError) -> Int {
    var start = unsafe file.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var count = UInt(file.count)
    guard unsafe compress(&start, &count) == 0 else {
      throw CodecError(.failed, self.instance.reason())
    }
    return Int(count)
  }
}

extension JPEGSubsampling {
  /// What the library calls it.
  var library: TJSAMP {
    switch self {
    case .none: TJSAMP_444
    case .half: TJSAMP_422
    case .quarter: TJSAMP_420
    }
  }
}

/// How a JPEG is written.
public struct JPEGSettings: Sendable, Hashable {
  /// 1 ... 100, by the scale of the Independent JPEG Group; 80 by default.
  public var quality: Int
  /// How much chroma is kept; 4:2:0 by default.
  public var subsampling: JPEGSubsampling

  /// States how to write; whether that can be, the encoder finds out.
  public init(quality: Int = 80, subsampling: JPEGSubsampling = .quarter) {
    self.quality = quality
    self.subsampling = subsampling
  }

  /// - Throws: ``CodecError`` with code ``CodecError/Code/invalidOption``.
  func check() throws(CodecError) {
    guard (1 ... 100).contains(self.quality) else {
      throw CodecError(.invalidOption, "JPEG quality is \(self.quality), the range is 1 ... 100")
    }
  }
}

/// How much chroma a JPEG keeps.
public enum JPEGSubsampling: String, Sendable, Hashable, CaseIterable {
  /// 4:4:4: a chroma sample a pixel. Coloured edges stay sharp.
  case none = "4:4:4"
  /// 4:2:2: a chroma sample for two pixels side by side.
  case half = "4:2:2"
  /// 4:2:0: a chroma sample for 2 x 2 pixels. Smaller files.
  case quarter = "4:2:0"
}
