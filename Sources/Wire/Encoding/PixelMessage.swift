package import SwiftProtobuf

/// A message of the contract that carries pixels.
package protocol PixelMessage: SwiftProtobuf.Message {
  /// The numbers of the fields that lead to the pixels, from the outermost.
  static var pixelPath: [Int] { get }
  /// The image, where the message is of a kind that has one.
  var carriedImage: Sidelight_V1_Image? { get set }
}

extension Sidelight_V1_ClientMessage: PixelMessage {
  package static var pixelPath: [Int] { [1, 2, 15] }  // frame, image, inline

  package var carriedImage: Sidelight_V1_Image? {
    get {
      guard case .frame(let frame)? = self.kind, frame.hasImage else { return nil }
      return frame.image
    }
    set { self.frame.image = newValue ?? Sidelight_V1_Image() }
  }
}

extension Sidelight_V1_ServerMessage: PixelMessage {
  package static var pixelPath: [Int] { [1, 2, 15] }  // frame, image, inline

  package var carriedImage: Sidelight_V1_Image? {
    get {
      guard case .frame(let frame)? = self.kind, frame.hasImage else { return nil }
      return frame.image
    }
    set { self.frame.image = newValue ?? Sidelight_V1_Image() }
  }
}
