import CTurboJPEG
import SidelightKernels

/// Encodes one frame as a JPEG using one instance of libjpeg-turbo.
struct JPEGEncoder {
  let instance: JPEGInstance
  let pool: BufferPool
  let settings: JPEGSettings

  private static let flags = Int32(TJFLAG_NOREALLOC) | Int32(TJFLAG_ACCURATEDCT)

  /// Encodes a frame.
  ///
  /// - Parameter file: The memory for the file.
  /// - Returns: The number of bytes of the file.
  /// - Throws: ``CodecError`` with code `failed`.
  /// - Precondition: The largest file of the frame's size fits. Versions of the library up to 2.1
  ///   ignore the given length and write past the end.
  func encode(
    _ frame: Frame, into file: UnsafeMutableRawBufferPointer
  ) throws(CodecError) -> Int {
    precondition(file.count >= JPEGCodec.maxByteCount(of: frame.size, self.settings))
    // A JPEG stores YUV of full range and BT.601. A frame of that form keeps its samples.
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

  /// Encodes the planes of a frame.
  ///
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
  /// The constant of the library.
  var library: TJSAMP {
    switch self {
    case .none: TJSAMP_444
    case .half: TJSAMP_422
    case .quarter: TJSAMP_420
    }
  }
}

/// The options of a JPEG encoder.
public struct JPEGSettings: Sendable, Hashable {
  /// - `quality` (default: 80, range: 1-100): the quality on the scale of the Independent JPEG
  ///   Group.
  public var quality: Int
  /// - `subsampling` (default: 4:2:0): the chroma subsampling.
  public var subsampling: JPEGSubsampling

  /// Creates options. The encoder validates them.
  public init(quality: Int = 80, subsampling: JPEGSubsampling = .quarter) {
    self.quality = quality
    self.subsampling = subsampling
  }

  /// Validates the options.
  ///
  /// - Throws: ``CodecError`` with code ``CodecError/Code/invalidOption``.
  func check() throws(CodecError) {
    guard (1 ... 100).contains(self.quality) else {
      throw CodecError(.invalidOption, "JPEG quality is \(self.quality), the range is 1 ... 100")
    }
  }
}

/// The chroma subsampling of a JPEG.
public enum JPEGSubsampling: String, Sendable, Hashable, CaseIterable {
  /// 4:4:4: one chroma sample per pixel. Coloured edges stay sharp.
  case none = "4:4:4"
  /// 4:2:2: one chroma sample per two adjacent pixels of a row.
  case half = "4:2:2"
  /// 4:2:0: one chroma sample per 2 x 2 pixels. Files are smaller.
  case quarter = "4:2:0"
}

extension Frame {
  /// Returns the frame as `i420` with luma up to the next even size, as libjpeg-turbo reads it.
  /// Added samples repeat the edge: equal frames give equal files.
  ///
  /// - Precondition: The frame is `i420` or `nv12`.
  /// - Throws: ``CodecError`` for a size that is invalid for frames.
  func evenPlanes(pool: BufferPool) throws(CodecError) -> Frame {
    precondition(self.format.isYUV, "the frame has no planes of chroma")
    let result: MutableFrame
    do {
      result = pool.makeFrame(layout: try .evenLuma(size: self.size), color: self.color)
    } catch {
      throw CodecError(.failed, error.description)
    }
    let (width, height) = (self.size.width, self.size.height)
    let luma = result.layout.planes[0].stride
    for row in 0 ..< (height + 1) & ~1 {
      let source = unsafe self.baseAddress(plane: 0) + min(row, height - 1) * self.stride(0)
      let target = unsafe result.baseAddress(plane: 0) + row * luma
      unsafe target.update(from: source, count: width)
      if !width.isMultiple(of: 2) { unsafe target[width] = source[width - 1] }
    }
    let columns = (width + 1) / 2
    for row in 0 ..< (height + 1) / 2 {
      let u = unsafe result.baseAddress(plane: 1) + row * result.layout.planes[1].stride
      let v = unsafe result.baseAddress(plane: 2) + row * result.layout.planes[2].stride
      let source = unsafe self.baseAddress(plane: 1) + row * self.stride(1)
      if self.format == .nv12 {
        for column in 0 ..< columns {
          unsafe u[column] = source[2 &* column]
          unsafe v[column] = source[2 &* column &+ 1]
        }
      } else {
        unsafe u.update(from: source, count: columns)
        unsafe v.update(from: self.baseAddress(plane: 2) + row * self.stride(2), count: columns)
      }
    }
    extendLifetime(self)
    return result.finish()
  }

  private func stride(_ plane: Int) -> Int { self.layout.planes[plane].stride }
}

extension FrameLayout {
  /// Returns an `i420` layout whose luma plane fits rows and columns up to the next even size,
  /// since libjpeg-turbo reads and writes whole pairs.
  ///
  /// - Throws: ``FrameLayoutError`` for a size that is invalid for frames.
  static func evenLuma(size: FrameSize) throws(FrameLayoutError) -> FrameLayout {
    let aligned = try FrameLayout(aligned: .i420, size: size)
    // Strides are multiples of 64 and therefore even; a row may be missing.
    let rows = (size.height + 1) & ~1
    let chroma = aligned.planes[1].stride * (rows / 2)
    let planes = [
      PlaneLayout(offset: 0, stride: aligned.planes[0].stride),
      PlaneLayout(offset: aligned.planes[0].stride * rows, stride: aligned.planes[1].stride),
      PlaneLayout(
        offset: aligned.planes[0].stride * rows + chroma, stride: aligned.planes[2].stride),
    ]
    return try FrameLayout(
      format: .i420, size: size, planes: planes, available: planes[2].offset + chroma)
  }
}
