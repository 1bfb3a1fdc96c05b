package import Foundation
import DequeModule
package import SidelightKernels

/// What a session needs to be as it was, at another server or after a loss: the newest resume token,
/// and what the participant asked for since. A pure state machine.
package struct SelectionJournal: Sendable {
  /// Whether the participant wants frames to be filtered.
  package enum Pause: Sendable, Hashable {
    case running
    case paused(passThrough: Bool)
  }

  /// A pipeline to be selected again.
  package struct Replay: Sendable, Hashable {
    package var pipeline: Pipeline
    package var requestID: UInt64

    package init(pipeline: Pipeline, requestID: UInt64) {
      self.pipeline = pipeline
      self.requestID = requestID
    }
  }

  private struct Entry {
    var requestID: UInt64
    var change: PipelineChange
    var isConditional: Bool
    /// Whether it went to the server.
    var isSent: Bool
  }

  /// Beyond this the oldest changes are taken for accepted: the server answers a refusal at once,
  /// while an acceptance is told with the next frame only.
  private static let limit = 64

  /// The pipeline that is known to be selected.
  private var confirmed: Pipeline
  /// Changes that the server has not answered.
  private var entries: Deque<Entry> = []
  private var nextRequestID: UInt64 = 1
  /// The change in whose name others were asked for again; not answered yet.
  private var replayed: UInt64?
  /// The newest token. `nil` if there is none, or it was refused.
  package var token: Data?
  /// The pause that was asked for last and went to the server; `nil` if none ever was.
  package var pause: Pause?

  package init(pipeline: Pipeline) {
    self.confirmed = pipeline
  }

  /// A change is asked for.
  ///
  /// - Parameters:
  ///   - change: What.
  ///   - isConditional: Whether it presupposes a revision, and so must not be asked for twice.
  ///   - isSent: Whether it counts as sent already.
  /// - Returns: Its number.
  package mutating func record(
    _ change: PipelineChange, isConditional: Bool, isSent: Bool = false
  ) -> UInt64 {
    defer { self.nextRequestID += 1 }
    self.entries.append(
      Entry(
        requestID: self.nextRequestID, change: change, isConditional: isConditional,
        isSent: isSent))
    if self.entries.count > Self.limit {
      self.entries.removeFirst().change.apply(to: &self.confirmed)
    }
    return self.nextRequestID
  }

  /// A change goes to the server.
  package mutating func send(_ requestID: UInt64) {
    guard let index = self.index(of: requestID) else { return }
    self.entries[index].isSent = true
  }

  /// The server put a change into force, and with it those before it.
  package mutating func apply(_ requestID: UInt64) {
    while let first = self.entries.first, first.requestID <= requestID {
      first.change.apply(to: &self.confirmed)
      self.entries.removeFirst()
    }
  }

  /// The server refused a change.
  ///
  /// - Returns: What to select instead, if the change stood for several: those before it.
  package mutating func reject(_ requestID: UInt64) -> Replay? {
    guard let index = self.index(of: requestID) else { return nil }
    self.entries.remove(at: index)
    guard self.replayed == requestID else { return nil }
    return self.takeReplay()
  }

  /// The connection is lost.
  ///
  /// - Returns: The numbers of changes whose fate will not be known: they went to the server, and must
  ///   not be asked for twice.
  package mutating func loseConnection() -> [UInt64] {
    self.replayed = nil
    let lost = self.entries.filter { $0.isSent && $0.isConditional }.map(\.requestID)
    self.entries.removeAll { $0.isSent && $0.isConditional }
    return lost
  }

  /// The pipeline to open with where no token restores it.
  package var pipeline: Pipeline { self.confirmed }

  /// What to select as soon as the session is open again: all that went to the server and was not
  /// answered, as one change with the number of the last. `nil`: there is nothing of the kind.
  package mutating func takeReplay() -> Replay? {
    let sent = self.entries.filter { $0.isSent && $0.requestID < self.replayed ?? .max }
    self.replayed = sent.last?.requestID
    return sent.last.map { last in
      Replay(
        pipeline: sent.reduce(into: self.confirmed) { $1.change.apply(to: &$0) },
        requestID: last.requestID)
    }
  }

  private func index(of requestID: UInt64) -> Int? {
    self.entries.firstIndex { $0.requestID == requestID }
  }
}
