import SidelightKernels
import Synchronization

/// Stands around each pass of a frame: stops it when its time is over, opens the pass's span, names
/// the pass that fails, and remembers the one that took longest.
struct WorkerPassObserver: PassObserver {
  /// A frame's time was over, or could not hold the work any more.
  struct Expired: Error {
    /// Where the frame was: waiting, or between two passes.
    var stage: DropStage
  }

  /// A pass failed.
  struct Failure: Error {
    /// The filters of the pass.
    var filters: [String]
    var cause: any Error
  }

  /// The pass that took longest.
  final class Slowest: Sendable {
    private let state = Mutex<(name: String, elapsed: Duration)>(("", .zero))

    var name: String { self.state.withLock { $0.name } }

    fileprivate func record(_ name: String, _ elapsed: Duration) {
      self.state.withLock { state in
        if elapsed > state.elapsed { state = (name, elapsed) }
      }
    }
  }

  let tracing: FramePassObserver
  let clock: SessionClock
  let deadline: Duration?
  let slowest = Slowest()

  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    let start = self.clock.now()
    if let deadline, start > deadline { throw Expired(stage: .pipeline) }
    do {
      let result = try await self.tracing.pass(description, body)
      self.slowest.record(description.name, self.clock.now() - start)
      return result
    } catch let error as CancellationError where Task.isCancelled {
      throw error
    } catch {
      throw Failure(filters: description.filters, cause: error)
    }
  }
}
