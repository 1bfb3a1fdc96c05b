import CTurboJPEG
import SidelightKernels

/// Decodes one JPEG file using one instance of libjpeg-turbo.
@safe
struct JPEGDecoder {
  let instance: JPEGInstance
  let pool: BufferPool
  /// The bytes of the file; valid while the value is used.
  let bytes: UnsafeBufferPointer<UInt8>
  let header: JPEGHeader

  /// Damaged samples are an error instead of a grey area, and the result does not depend on the
  /// processor.
  private static let flags = Int32(TJFLAG_STOPONWARNING) | Int32(TJFLAG_ACCURATEDCT)

  /// Decodes the picture.
  ///
  /// - Precondition: The format is `i420`, `rgb24` or `gray8`.
  func decode(as format: PixelFormat) throws(CodecError) -> Frame {
    let sampling = try self.sampling()
    switch format {
    case .i420:
      return switch sampling {
      case .gray: try self.decodeGrayPlanes()
      case .rgb: try self.decodeThroughRGB()
      case .quartered: try self.decodePlanes()
      case .other(let sampling): try self.decodePlanes(reducing: sampling)
      }
    case .rgb24, .gray8: return try self.decodePixels(format).finish()
    case .bgra8, .rgba8, .nv12: preconditionFailure("no JPEG is decoded to \(format)")
    }
  }

  // MARK: The sampling of the file

  private enum Sampling {
    case gray
    /// Red, green and blue instead of luma and chroma.
    case rgb
    case quartered
    case other(TJSAMP)
  }

  /// Returns the sampling as the library reads it, and checks that it agrees with ``header``.
  private func sampling() throws(CodecError) -> Sampling {
    var (width, height, subsampling, colorspace): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    let parsed = unsafe tjDecompressHeader3(
      self.instance.handle, self.bytes.baseAddress, UInt(self.bytes.count), &width, &height,
      &subsampling, &colorspace)
    guard parsed == 0 else { throw self.error() }
    guard width == self.header.size.width, height == self.header.size.height else {
      throw CodecError(.corrupt, "the file states two sizes")
    }
    switch TJCS(UInt32(colorspace)) {
    case TJCS_GRAY: return .gray
    case TJCS_RGB: return .rgb
    case TJCS_YCbCr: break
    default: throw CodecError(.unsupported, "CMYK and YCCK pictures are not supported")
    }
    let sampling = TJSAMP(UInt32(subsampling))
    let chroma: JPEGHeader.Chroma =
      switch sampling {
      case TJSAMP_444: .every(columns: 1, rows: 1)
      case TJSAMP_422: .every(columns: 2, rows: 1)
      case TJSAMP_420: .every(columns: 2, rows: 2)
      case TJSAMP_440: .every(columns: 1, rows: 2)
      case TJSAMP_411: .every(columns: 4, rows: 1)
      default: throw CodecError(.unsupported, "the chroma subsampling is not supported")
      }
    // The sizes of the planes depend on the sampling that the library reads.
    guard chroma == self.header.chroma else {
      throw CodecError(.unsupported, "the chroma subsampling is not supported")
    }
    return sampling == TJSAMP_420 ? .quartered : .other(sampling)
  }

  /// Returns the library's last error. Its texts are part of the interface of libjpeg and have not
  /// changed for decades; an unknown text is reported as corruption.
  private func error() -> CodecError {
    let reason = self.instance.reason()
    let isUnsupported = reason.contains("subsampling type") || reason.contains("Unsupported")
    return CodecError(isUnsupported ? .unsupported : .corrupt, reason)
  }

  // MARK: Pixels

  private func decodePixels(_ format: PixelFormat) throws(CodecError) -> MutableFrame {
    let frame: MutableFrame
    do {
      frame = try self.pool.makeFrame(
        FrameGeometry(format: format, size: self.header.size, color: .jpeg))
    } catch {
      throw CodecError(.limitExceeded, error.description)
    }
    let order = format == .gray8 ? TJPF_GRAY : TJPF_RGB
    let decoded = unsafe tjDecompress2(
      self.instance.handle, self.bytes.baseAddress, UInt(self.bytes.count),
      frame.baseAddress(plane: 0), Int32(self.header.size.width),
      Int32(frame.layout.planes[0].stride), Int32(self.header.size.height), Int32(order.rawValue),
      Self.flags)
    guard decoded == 0 else { throw self.error() }
    return frame
  }

  // MARK: Planes

  /// Returns a frame whose planes fit the pairs of rows and columns that the library writes.
  private func makeFrame() throws(CodecError) -> MutableFrame {
    do {
      return self.pool.makeFrame(layout: try .evenLuma(size: self.header.size), color: .jpeg)
    } catch {
      throw CodecError(.limitExceeded, error.description)
    }
  }

  private func decodePlanes() throws(CodecError) -> Frame {
    let frame = try self.makeFrame()
    try unsafe self.decompress(
      to: [frame.baseAddress(plane: 0), frame.baseAddress(plane: 1), frame.baseAddress(plane: 2)],
      strides: frame.layout.planes.map(\.stride))
    return frame.finish()
  }

  private func decodeGrayPlanes() throws(CodecError) -> Frame {
    let frame = try self.makeFrame()
    try unsafe self.decompress(
      to: [frame.baseAddress(plane: 0), nil, nil], strides: frame.layout.planes.map(\.stride))
    let rows = (self.header.size.height + 1) / 2
    for plane in 1 ... 2 {
      unsafe frame.baseAddress(plane: plane)
        .update(repeating: 128, count: rows * frame.layout.planes[plane].stride)
    }
    return frame.finish()
  }

  private func decodePlanes(reducing sampling: TJSAMP) throws(CodecError) -> Frame {
    guard case .every(let columns, let rows) = self.header.chroma else {
      preconditionFailure("a picture of three planes has chroma")
    }
    let frame = try self.makeFrame()
    let size = self.header.size
    let (width, height) = ((size.width + 1) / 2, (size.height + 1) / 2)
    // The size that the library writes. The planes also fit the pairs that are read below, of which
    // the last one may be incomplete.
    let written = (
      width: Int(tjPlaneWidth(1, Int32(size.width), Int32(sampling.rawValue))),
      height: Int(tjPlaneHeight(1, Int32(size.height), Int32(sampling.rawValue)))
    )
    let stride = (max(written.width, 2 * width) + 63) & ~63
    let planeBytes = max(written.height, 2 * height) * stride
    let scratch = self.pool.makeBuffer(byteCount: 2 * planeBytes)
    defer { extendLifetime(scratch) }
    let start = unsafe scratch.bytes.baseAddress.unsafelyUnwrapped
      .assumingMemoryBound(to: UInt8.self)
    let planes = unsafe [start, start + planeBytes]
    try unsafe self.decompress(
      to: [frame.baseAddress(plane: 0), planes[0], planes[1]],
      strides: [frame.layout.planes[0].stride, stride, stride])
    let reduction = ChromaReduction(columns: columns, rows: rows)
    for plane in 1 ... 2 {
      let samples = unsafe planes[plane - 1]
      if columns == 1, !size.width.isMultiple(of: 2) {
        for y in 0 ..< written.height {
          let last = unsafe samples + y * stride + size.width - 1
          unsafe last[1] = last[0]
        }
      }
      if rows == 1, !size.height.isMultiple(of: 2) {
        let last = unsafe samples + (size.height - 1) * stride
        unsafe (last + stride).update(from: last, count: stride)
      }
      unsafe reduction.run(
        samples, stride: stride, width: width, height: height,
        into: frame.baseAddress(plane: plane), stride: frame.layout.planes[plane].stride)
    }
    return frame.finish()
  }

  private func decodeThroughRGB() throws(CodecError) -> Frame {
    let pixels = try self.decodePixels(.rgb24)
    let frame = try self.makeFrame()
    var planes: [UnsafeMutablePointer<UInt8>?] = unsafe [
      frame.baseAddress(plane: 0), frame.baseAddress(plane: 1), frame.baseAddress(plane: 2),
    ]
    var strides = frame.layout.planes.map { Int32($0.stride) }
    let encoder = try JPEGInstance(.encoder)
    let converted = unsafe tjEncodeYUVPlanes(
      encoder.handle, pixels.baseAddress(plane: 0), Int32(self.header.size.width),
      Int32(pixels.layout.planes[0].stride), Int32(self.header.size.height),
      Int32(TJPF_RGB.rawValue), &planes, &strides, Int32(TJSAMP_420.rawValue), Self.flags)
    guard converted == 0 else { throw CodecError(.failed, encoder.reason()) }
    return frame.finish()
  }

  /// Decodes to planes.
  ///
  /// - Parameter planes: The planes, in the sizes that the library writes.
  private func decompress(
    to planes: [UnsafeMutablePointer<UInt8>?], strides: [Int]
  ) throws(CodecError) {
    var planes = unsafe planes
    var strides = strides.map(Int32.init)
    let decoded = unsafe tjDecompressToYUVPlanes(
      self.instance.handle, self.bytes.baseAddress, UInt(self.bytes.count), &planes, 0, &strides, 0,
      Self.flags)
    guard decoded == 0 else { throw self.error() }
  }
}

/// Converts a plane of chroma to one sample per 2x2 pixels, as in 4:2:0: the mean of the samples of
/// these pixels, rounded to nearest. If the plane has fewer columns than that, samples are
/// repeated.
///
/// In JPEG a chroma sample is centred on its pixels, before and after the conversion, so colours
/// keep their positions.
@safe
private struct ChromaReduction {
  /// The number of columns of pixels that share a sample: 1, 2 or 4.
  let columns: Int
  /// The number of rows of pixels that share a sample: 1 or 2.
  let rows: Int

  /// Converts a plane.
  ///
  /// - Parameters:
  ///   - source: The plane.
  ///   - stride: The distance between its rows, in bytes.
  ///   - width: The width of the result. The source has at least `2 * width / columns` columns,
  ///     rounded up.
  ///   - height: The height of the result. The source has `2 * height / rows` rows.
  ///   - target: The result.
  ///   - targetStride: The distance between the rows of the result, in bytes.
  func run(
    _ source: UnsafePointer<UInt8>, stride: Int, width: Int, height: Int,
    into target: UnsafeMutablePointer<UInt8>, stride targetStride: Int
  ) {
    for y in 0 ..< height {
      // Both are the same row if the plane has as few rows as the result.
      let upper = unsafe source + (self.rows == 1 ? 2 * y : y) * stride
      let lower = unsafe self.rows == 1 ? upper + stride : upper
      let row = unsafe target + y * targetStride
      switch self.columns {
      case 1:
        for x in 0 ..< width {
          let sum =
            unsafe UInt16(upper[2 &* x]) &+ UInt16(upper[2 &* x &+ 1]) &+ UInt16(lower[2 &* x])
            &+ UInt16(lower[2 &* x &+ 1])
          unsafe row[x] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
        }
      case 2:
        for x in 0 ..< width {
          let sum = unsafe UInt16(upper[x]) &+ UInt16(lower[x])
          unsafe row[x] = UInt8(truncatingIfNeeded: (sum &+ 1) >> 1)
        }
      default:
        for x in 0 ..< width {
          let sum = unsafe UInt16(upper[x / 2]) &+ UInt16(lower[x / 2])
          unsafe row[x] = UInt8(truncatingIfNeeded: (sum &+ 1) >> 1)
        }
      }
    }
  }
}
