import SidelightKernels

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
