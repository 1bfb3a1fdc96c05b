import DequeModule
package import Foundation
package import SidelightKernels
package import SidelightWire

/// A change that a participant requests of its pipeline.
package enum PipelineChange: Sendable, Hashable {
  /// Replaces the pipeline.
  case select(Pipeline)
  /// Sets parameters by name, by stage.
  case update([String: [String: ParameterValue]])
  /// Turns stages on and off.
  case activate([String: Bool])

  /// Applies the change to `pipeline` as the server does. A change that cannot be applied is
  /// ignored: the server refuses it.
  func apply(to pipeline: inout Pipeline) {
    var changed = pipeline
    do throws(PipelineError) {
      switch self {
      case .select(let other): changed = other
      case .update(let stages):
        for (stage, parameters) in stages {
          try changed.setParameters(parameters, stage: stage)
        }
      case .activate(let stages):
        for (stage, isActive) in stages { try changed.setActive(isActive, stage: stage) }
      }
    } catch {
      return
    }
    pipeline = changed
  }
}

/// The state that restores a session at another server or after a lost connection: the newest
/// resume token, and the changes that the participant requested since. A pure state machine.
package struct PipelineChangeLog: Sendable {
  /// Whether the participant wants frames to be filtered.
  package enum Pause: Sendable, Hashable {
    case running
    case paused(passThrough: Bool)
  }

  /// A pipeline to select again.
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
    /// Whether it was sent to the server.
    var isSent: Bool
  }

  /// The number of unanswered changes beyond which the oldest counts as accepted: the server
  /// answers a refusal at once, but reports an acceptance only with the next frame.
  private static let limit = 64

  /// The pipeline that is known to be selected.
  private var confirmed: Pipeline
  /// Changes that the server has not answered.
  private var entries: Deque<Entry> = []
  private var nextRequestID: UInt64 = 1
  /// The number of a replay that the server has not answered.
  private var replayed: UInt64?
  /// The parts of frames that a pipeline hides which may be in force, but is in no other property:
  /// its change was lost, or counts as accepted without an answer. `nil` if there is none.
  private var undecided: PipelineProtection?
  /// The newest token. `nil` if there is none, or it was refused.
  package var token: Data?
  /// The last requested pause that was sent to the server. `nil` if there is none.
  package var pause: Pause?

  package init(pipeline: Pipeline) {
    self.confirmed = pipeline
  }

  /// Records a requested change.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - isConditional: Whether it requires a revision, and so must not be requested twice.
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
      let protection = self.protection
      self.entries.removeFirst().change.apply(to: &self.confirmed)
      if protection != self.protection { self.undecided = protection }
    }
    return self.nextRequestID
  }

  /// Marks a change as sent to the server.
  package mutating func send(_ requestID: UInt64) {
    guard let index = self.index(of: requestID) else { return }
    self.entries[index].isSent = true
  }

  /// Applies a change that the server put into force, and those before it.
  package mutating func apply(_ requestID: UInt64) {
    while let first = self.entries.first, first.requestID <= requestID {
      first.change.apply(to: &self.confirmed)
      if case .select = first.change { self.undecided = nil }
      self.entries.removeFirst()
    }
  }

  /// Removes a change that the server refused.
  ///
  /// - Returns: The pipeline to select instead, if the refused change was a replay of several: the
  ///   changes before it.
  package mutating func reject(_ requestID: UInt64) -> Replay? {
    guard let index = self.index(of: requestID) else { return nil }
    self.entries.remove(at: index)
    guard self.replayed == requestID else { return nil }
    return self.takeReplay()
  }

  /// Removes the changes that a lost connection makes undecidable.
  ///
  /// - Returns: The numbers of those changes: they were sent to the server, and must not be
  ///   requested twice.
  package mutating func loseConnection() -> [UInt64] {
    self.replayed = nil
    let lost = self.entries.filter { $0.isSent && $0.isConditional }.map(\.requestID)
    if !lost.isEmpty { self.undecided = self.protection }
    self.entries.removeAll { $0.isSent && $0.isConditional }
    return lost
  }

  /// The pipeline to open a session with if no token restores it.
  package var pipeline: Pipeline { self.confirmed }

  /// The parts of frames that the pipeline in force may hide, an operator's override aside.
  ///
  /// A protection counts from the request of a change until a change that ends it is in force. A
  /// refused change counts until the refusal arrives; one that a lost connection made undecidable
  /// counts until another pipeline that was selected is in force.
  package var protection: PipelineProtection {
    var pipeline = self.confirmed
    let protection = pipeline.protection.union(self.undecided ?? [])
    return self.entries.reduce(into: protection) { protection, entry in
      entry.change.apply(to: &pipeline)
      protection.formUnion(pipeline.protection)
    }
  }

  /// The parts of frames that the selected pipeline certainly hides.
  package var confirmedProtection: PipelineProtection {
    self.undecided == nil ? self.confirmed.protection : []
  }

  /// Returns the pipeline to select as soon as the session is open again: all changes that were
  /// sent and not answered, as one change with the number of the last. `nil` if there are none.
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
