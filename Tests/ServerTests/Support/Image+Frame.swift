import SidelightKernels
import SidelightTransport
import SidelightWire

extension Sidelight_V1_Image {
  /// The frame that a raw image describes, on a copy of its inline pixels.
  func makeFrame(limits: FrameLimits = .unlimited) throws -> Frame {
    let pixels = [UInt8](self.inline)
    return try self.frame(over: PixelBuffer(copying: pixels), limits: limits)
  }
}
