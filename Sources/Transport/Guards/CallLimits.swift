import SidelightWire

/// What a call's messages may be.
struct CallLimits: Sendable {
  /// The most bytes of a message.
  var maxBytes: Int
  /// The configuration's name of that limit.
  var name: String
  /// What a message is; `nil` for a method that is not known.
  var shape: MessageShape?

  /// Methods that take pixels; those of all others are small.
  private static let takingPixels: Set = [
    "/sidelight.v1.FrameFilter/Process", "/sidelight.v1.FrameFilter/Apply",
  ]

  /// - Parameters:
  ///   - path: The method, as in HTTP/2's `:path`.
  ///   - maxMessageBytes: The most bytes of a message with pixels.
  ///   - maxControlMessageBytes: The most bytes of one without.
  init(path: String, maxMessageBytes: Int, maxControlMessageBytes: Int) {
    if Self.takingPixels.contains(path) || maxMessageBytes <= maxControlMessageBytes {
      (self.maxBytes, self.name) = (maxMessageBytes, "max_message_bytes")
    } else {
      (self.maxBytes, self.name) = (maxControlMessageBytes, "max_control_message_bytes")
    }
    self.shape = MessageShapes.contract.input(ofMethodAt: path)
  }
}
