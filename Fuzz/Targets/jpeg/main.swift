import FuzzDriver
import SidelightCodecs
import SidelightKernels

// Decodes a JPEG using a codec that has decoded all earlier inputs, and with a new one: both
// must agree, and the result must match the header.

let limits = ImageLimits(maxPixels: 1 << 16)
let pool = BufferPool(maxIdleBytes: 0)
let reused = JPEGCodec(pool: pool, limits: limits)

func samples(of frame: Frame) -> [[UInt8]] {
  (0 ..< frame.format.planeCount).flatMap { plane in
    (0 ..< frame.format.rowCount(plane: plane, height: frame.size.height)).map { row in
      frame.withRow(row, plane: plane) { bytes in bytes.withUnsafeBytes { [UInt8]($0) } }
    }
  }
}

func decode(
  _ file: RawSpan, as format: PixelFormat?, by codec: JPEGCodec
) -> Result<Frame, CodecError> {
  do throws(CodecError) {
    return .success(try codec.decode(file, as: format))
  } catch {
    return .failure(error)
  }
}

fuzz { file in
  for format in [nil, PixelFormat.i420, .rgb24, .gray8] {
    let fresh = JPEGCodec(pool: pool, limits: limits)
    switch (decode(file, as: format, by: reused), decode(file, as: format, by: fresh)) {
    case (.success(let frame), .success(let other)):
      precondition(frame.size.pixelCount <= limits.maxPixels, "the picture exceeds the limits")
      precondition(samples(of: frame) == samples(of: other), "earlier files change the result")
      let header = try? reused.header(of: file)
      precondition(header?.size == frame.size, "the header states another size")
      precondition(
        format != nil || header?.geometry == frame.geometry, "the header states another format")
    case (.failure(let error), .failure(let other)):
      precondition(error == other, "earlier files change the error: \(error), \(other)")
    default: preconditionFailure("earlier files change whether a file is accepted")
    }
  }
}
