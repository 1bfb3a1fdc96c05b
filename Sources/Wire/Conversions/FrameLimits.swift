import GRPCCore
package import SidelightKernels

/// How large a frame may be.
package struct FrameLimits: Sendable, Hashable {
  /// Pixels a row or column.
  package var maxDimension: Int
  /// Pixels a frame.
  package var maxPixels: Int

  package init(maxDimension: Int, maxPixels: Int) {
    self.maxDimension = maxDimension
    self.maxPixels = maxPixels
  }

  /// Checks what a pipeline would make of a frame, since pipelines may scale.
  package func check(output size: FrameSize) throws(FieldFault) {
    guard max(size.width, size.height) <= self.maxDimension, size.pixelCount <= self.maxPixels
    else {
      throw FieldFault(
        code: .resourceExhausted, field: "pipeline",
        reason: "makes frames of \(size), the limits are \(self.maxDimension) pixels a side and "
          + "\(self.maxPixels) in all")
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
