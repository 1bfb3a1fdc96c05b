import GRPCCore
package import SidelightKernels

/// How large a frame may be.
package struct FrameLimits: Sendable, Hashable {
  /// Pixels a row or column.
  package var maxDimension: Int
  /// Pixels a frame.
  package var maxPixels: Int
  /// Bytes of a frame's samples.
  package var maxBytes: Int

  package init(maxDimension: Int, maxPixels: Int, maxBytes: Int = .max) {
    self.maxDimension = maxDimension
    self.maxPixels = maxPixels
    self.maxBytes = maxBytes
  }

  /// Checks what a pipeline would make of a frame, since pipelines may scale.
  ///
  /// - Parameter field: What makes frames so.
  package func check(
    output: FrameGeometry, field: String = "pipeline"
  ) throws(FieldFault) {
    let size = output.size
    guard max(size.width, size.height) <= self.maxDimension, size.pixelCount <= self.maxPixels
    else {
      throw FieldFault(
        code: .resourceExhausted, field: field,
        reason: "makes frames of \(size), the limits are \(self.maxDimension) pixels a side and "
          + "\(self.maxPixels) in all")
    }
    let byteCount = (0 ..< output.format.planeCount).reduce(0) { sum, plane in
      sum + output.format.rowByteCount(plane: plane, width: size.width)
        * output.format.rowCount(plane: plane, height: size.height)
    }
    guard byteCount <= self.maxBytes else {
      throw FieldFault(
        code: .resourceExhausted, field: field,
        reason: "makes frames of \(byteCount) bytes, the limit is \(self.maxBytes)")
    }
  }

  /// Checks a size before anything is allocated for it.
  package func check(width: UInt32, height: UInt32) throws(FieldFault) -> FrameSize {
    for (name, value) in [("width", width), ("height", height)] {
      guard value >= 1 else { throw FieldFault(field: name, reason: "is 0") }
      guard value <= UInt32(self.maxDimension) else {
        throw FieldFault(field: name, reason: "is \(value), the limit is \(self.maxDimension)")
      }
    }
    let size = FrameSize(width: Int(width), height: Int(height))
    guard size.pixelCount <= self.maxPixels else {
      throw FieldFault(
        field: "width",
        reason: "\(size) is \(size.pixelCount) pixels, the limit is \(self.maxPixels)")
    }
    return size
  }
}

extension FrameLimits {
  /// No limit but that of the frame type: for whoever asked for the frames himself.
  package static let everything = FrameLimits(
    maxDimension: FrameLayout.maxDimension,
    maxPixels: FrameLayout.maxDimension * FrameLayout.maxDimension)
}
