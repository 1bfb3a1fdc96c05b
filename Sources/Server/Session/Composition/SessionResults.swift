import SidelightKernels
import SidelightWire
import Synchronization

/// The newest result of a session, for compositions that show it.
///
/// A session keeps one result, and only while a composition reads it.
final class SessionResults: Sendable {
  /// A finished frame.
  struct Result: Sendable {
    /// The number of the result, which counts up.
    var number: UInt64
    /// The picture, in memory that does not change any more.
    var picture: IncomingPicture
    /// The revision of the pipeline that filtered it.
    var revision: UInt64
  }

  private struct State {
    var readers = 0
    var count: UInt64 = 0
    var newest: Result?
  }

  private let state = Mutex(State())

  /// Whether a composition reads the results.
  var isRead: Bool { self.state.withLock { $0.readers > 0 } }

  /// The newest result since a composition began to read.
  var newest: Result? { self.state.withLock { $0.newest } }

  /// Replaces the newest result.
  func publish(_ picture: IncomingPicture, revision: UInt64) {
    let last = self.state.withLock { state -> Result? in
      guard state.readers > 0 else { return nil }
      state.count += 1
      defer {
        state.newest = Result(number: state.count, picture: picture, revision: revision)
      }
      return state.newest
    }
    // Its memory is released without the lock.
    _ = consume last
  }

  /// Begins to keep results.
  func beginReading() {
    self.state.withLock { $0.readers += 1 }
  }

  /// Ends ``beginReading()``.
  func endReading() {
    let last = self.state.withLock { state -> Result? in
      state.readers -= 1
      guard state.readers == 0 else { return nil }
      return state.newest.take()
    }
    _ = consume last
  }
}

/// The results that a composed picture shows.
struct ComposedResults: Sendable {
  private var shown: [(session: SessionHandle, revision: UInt64)] = []

  /// Adds a result of a session.
  mutating func add(_ session: SessionHandle, revision: UInt64) {
    self.shown.append((session, revision))
  }

  /// Whether all of them may still be shown.
  var arePermitted: Bool {
    self.shown.allSatisfy { $0.session.permitsResult(of: $0.revision) }
  }
}
