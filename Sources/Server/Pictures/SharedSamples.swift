import SidelightKernels
import Synchronization

/// The samples of a file, decoded once for everybody who looks at them.
///
/// One side decodes: the lane, which must not wait for those who only look. They wait for it, and decode
/// themselves only what it never came to.
final class SharedSamples: Sendable {
  /// What came of it.
  enum Resolution: Sendable {
    case decoded(Frame)
    /// The file is none.
    case unreadable
    /// The frame was lost before anybody decoded it.
    case abandoned
  }

  /// The side that decodes. When nobody has it any more, nobody will.
  final class Source: Sendable {
    /// The side that waits.
    let samples = SharedSamples()

    deinit {
      self.samples.resolve(.abandoned)
    }

    /// The file is decoded, or cannot be.
    func resolve(_ resolution: Resolution) {
      self.samples.resolve(resolution)
    }
  }

  private let state = Mutex<Resolution?>(nil)
  private let resolved = Completion()

  private init() {}

  /// What came of it. Waits until that is known; a caller that is cancelled is told that nothing did.
  /// One task asks, once.
  var resolution: Resolution {
    get async {
      await withTaskCancellationHandler {
        await self.resolved.wait()
      } onCancel: {
        self.resolved.finish()
      }
      return self.state.withLock { $0 } ?? .abandoned
    }
  }

  /// The first call counts.
  private func resolve(_ resolution: Resolution) {
    self.state.withLock { if $0 == nil { $0 = resolution } }
    self.resolved.finish()
  }
}
