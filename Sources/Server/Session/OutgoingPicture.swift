import SidelightKernels
import SidelightWire

/// A picture in the making: its pixels are written where they are sent from.
struct OutgoingPicture: Sendable {
  /// The outcome's message.
  let envelope: PixelEnvelope<Sidelight_V1_ServerMessage>
  /// Where the planes lie in the message.
  private let layout: FrameLayout?
  /// Bytes of pixels.
  let byteCount: Int

  /// Room for a picture.
  ///
  /// - Parameter outcome: The message, but for the picture.
  /// - Throws: `FrameLayoutError` for a size that no frame can have.
  init(
    shapedAs geometry: FrameGeometry, orientation: Orientation,
    outcome: Sidelight_V1_FilteredFrame
  ) throws {
    let layout = try FrameLayout(packed: geometry.format, size: geometry.size)
    var outcome = outcome
    outcome.image = Sidelight_V1_Image()
    outcome.image.describe(geometry, orientation: orientation)
    self.layout = layout
    self.byteCount = layout.byteCount
    self.envelope = try .outcome(outcome, pixelByteCount: layout.byteCount)
  }

  /// A frame's own pixels, byte by byte.
  ///
  /// - Parameter outcome: The message, with the image as it came.
  init(copying pixels: PixelBuffer, outcome: Sidelight_V1_FilteredFrame) throws {
    self.layout = nil
    self.byteCount = pixels.byteCount
    self.envelope = try .outcome(outcome, pixelByteCount: pixels.byteCount)
    self.envelope.pixels.copy(pixels)
  }

  /// The picture, to be written once.
  var frame: MutableFrame {
    guard let layout else { preconditionFailure("the picture is written") }
    return MutableFrame(layout: layout, buffer: self.envelope.pixels)
  }
}
