import Foundation
import SidelightKernels
import SidelightWire

extension Sidelight_V1_Image {
  /// The frame that a raw image describes, on a copy of its inline pixels.
  func makeFrame(limits: FrameLimits = .unlimited) throws -> Frame {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: self.inline.count, alignment: 64)
    self.inline.copyBytes(to: memory)
    return try self.frame(
      over: PixelBuffer(borrowing: memory) { $0.deallocate() }, limits: limits)
  }
}
