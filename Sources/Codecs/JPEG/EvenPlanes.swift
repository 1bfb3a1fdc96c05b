import SidelightKernels

/// The samples of a 4:2:0 frame as libjpeg-turbo reads them: three planes without padding, luma
/// extended to even sides. What is added repeats the edge, so that equal frames give equal files.
struct EvenPlanes {
  /// Luma, Cb and Cr, one after another.
  let bytes: [UInt8]
  /// Offsets of the planes.
  let offsets: [Int]
  /// Bytes of a row of each plane.
  let strides: [Int]

  /// - Precondition: The frame is `i420` or `nv12`.
  init(_ frame: Frame) {
    precondition(frame.format.isYUV, "the frame has no planes of chroma")
    let columns = (frame.size.width + 1) / 2
    let rows = (frame.size.height + 1) / 2
    let luma = 4 * columns * rows
    var bytes: [UInt8] = []
    bytes.reserveCapacity(luma + 2 * columns * rows)
    for row in 0 ..< 2 * rows {
      frame.withRow(min(row, frame.size.height - 1)) { samples in
        unsafe samples.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        if frame.size.width < 2 * columns { bytes.append(samples.byte(at: samples.byteCount - 1)) }
      }
    }
    for plane in 1 ... 2 {
      for row in 0 ..< rows {
        switch frame.format {
        case .nv12:
          frame.withRow(row, plane: 1) { samples in
            for column in 0 ..< columns { bytes.append(samples.byte(at: 2 * column + plane - 1)) }
          }
        default:
          frame.withRow(row, plane: plane) { samples in
            unsafe samples.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
          }
        }
      }
    }
    self.bytes = bytes
    self.offsets = [0, luma, luma + columns * rows]
    self.strides = [2 * columns, columns, columns]
  }
}
