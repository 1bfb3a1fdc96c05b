import Synchronization

/// The scripts that are still to be played, until they have enough frames.
final class ModelScriptQueue: Sendable {
  private let state: Mutex<(seed: UInt64, framesLeft: Int)>

  init(from seed: UInt64, frames: Int) {
    self.state = Mutex((seed, frames))
  }

  /// The next script; `nil` after the last one.
  func next() -> ModelScript? {
    self.state.withLock { state in
      guard state.framesLeft > 0 else { return nil }
      let script = ModelScriptWriter.script(seed: state.seed)
      state.seed += 1
      state.framesLeft -= script.frameCount
      return script
    }
  }

  /// Ends the queue.
  func stop() {
    self.state.withLock { $0.framesLeft = 0 }
  }
}
