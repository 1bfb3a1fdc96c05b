import SidelightKernels
import Synchronization

/// The samples of a file, decoded once for everybody who looks at them.
///
/// One side decodes: the lane, which must not wait for those who only look. They wait for it, and decode
/// themselves only what it never came to.
final class SharedSamples: Sendable {
  /// What came of it.
  enum Fate: Sendable {
    case decoded(Frame)
    /// The file is none.
    case unreadable
    /// The frame was lost before anybody decoded it.
    case leftAlone
  }

  /// The side that decodes. When nobody has it any more, nobody will.
  final class Source: Sendable {
    /// The side that waits.
    let samples = SharedSamples()

    deinit {
      self.samples.settle(.leftAlone)
    }

    /// The file is decoded, or cannot be.
    func settle(_ fate: Fate) {
      self.samples.settle(fate)
    }
  }

  private let state = Mutex<Fate?>(nil)
  private let settled = Completion()

  private init() {}

  /// What came of it. Waits until that is known; a caller that is cancelled is told that nothing did.
  /// One task asks, once.
  var fate: Fate {
    get async {
      await withTaskCancellationHandler {
        await self.settled.wait()
      } onCancel: {
        self.settled.finish()
      }
      return self.state.withLock { $0 } ?? .leftAlone
    }
  }

  /// The first call counts.
  private func settle(_ fate: Fate) {
    self.state.withLock { if $0 == nil { $0 = fate } }
    self.settled.finish()
  }
}
