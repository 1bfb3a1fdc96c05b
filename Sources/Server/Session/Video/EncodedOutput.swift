import SidelightKernels
import SidelightWire
import Synchronization

/// The requested form of a session's results, which the client may change: the reader changes it,
/// and the writer encodes by it.
final class EncodedOutput: Sendable {
  private struct State {
    var shape: OutputShape
    var encoder: EncoderRequest
    /// A smaller size, for which the link has enough bits.
    var adaptedSize: FrameSize?
    /// The number of changes of the size that the client has requested.
    var sizeChanges = 0
    var isKeyFrameRequested = false
  }

  /// The cost of encoding a picture, once one was encoded.
  let encodingCost = CostEstimate()
  private let state: Mutex<State>

  init(shape: OutputShape, encoder: EncoderRequest) {
    self.state = Mutex(State(shape: shape, encoder: encoder))
  }

  /// The form of the results of frames that arrive now.
  var shape: OutputShape {
    self.state.withLock { state in
      state.adaptedSize.map { state.shape.scaled(to: $0) } ?? state.shape
    }
  }

  /// The number of changes of the size that the client has requested.
  var sizeChanges: Int { self.state.withLock { $0.sizeChanges } }

  /// Reduces the size of the results to what the link carries; `nil` ends that.
  func adapt(to size: FrameSize?) {
    self.state.withLock { $0.adaptedSize = size }
  }

  /// The settings of the encoder.
  var encoder: EncoderRequest { self.state.withLock { $0.encoder } }

  /// Returns the expected work of encoding a plan's result; zero if it is not encoded, or unknown.
  func expectedEncoding(of compiled: CompiledPipeline) -> Duration {
    guard compiled.delivery.coding.codec != nil else { return .zero }
    return self.encodingCost.expected ?? .zero
  }

  /// Changes the settings of the encoder, and the size of the results.
  ///
  /// - Throws: ``FieldViolation`` for a value outside its range; the settings do not change then.
  func apply(_ change: Sidelight_V1_SetEncoder, limits: FrameLimits) throws(FieldViolation) {
    let result = self.state.withLock { state in
      Result { () throws(FieldViolation) in
        var changed = state
        try changed.shape.apply(change, limits: limits)
        try changed.encoder.apply(change)
        changed.adaptedSize = nil
        if change.width != 0 || change.height != 0 { changed.sizeChanges += 1 }
        state = changed
      }
    }
    try result.get()
  }

  /// Whether the client has requested a key frame that was not encoded yet.
  var isKeyFrameRequested: Bool { self.state.withLock { $0.isKeyFrameRequested } }

  /// Requests a key frame.
  func requestKeyFrame() {
    self.state.withLock { $0.isKeyFrameRequested = true }
  }

  /// Records that a key frame was encoded.
  func recordKeyFrame() {
    self.state.withLock { $0.isKeyFrameRequested = false }
  }
}
