import DequeModule
package import Foundation
package import SidelightKernels
package import SidelightWire

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
    package var pipeline: SelectedPipeline
    package var requestID: UInt64

    package init(pipeline: SelectedPipeline, requestID: UInt64) {
      self.pipeline = pipeline
      self.requestID = requestID
    }
  }

  private struct Entry {
    var requestID: UInt64
    var change: PipelineChange
    var isConditional: Bool
    /// Whether it was sent to the server, or counts as sent.
    var isSent: Bool
    /// Whether the server will answer.
    var isRequested = false
    /// Whether the server has accepted it.
    var isAccepted = false

    /// Whether a lost connection leaves it unknown whether the change is active.
    var isUndecidable: Bool { self.isSent && self.isConditional && !self.isAccepted }
  }

  /// The maximum number of inactive changes; beyond it the oldest counts as active, because the
  /// server only reports that with the next frame.
  private static let limit = 64

  /// The last pipeline that is known to have been active.
  private var confirmed: SelectedPipeline
  /// Changes that the server has neither refused nor activated.
  private var entries: Deque<Entry> = []
  private var nextRequestID: UInt64 = 1
  /// The number of an unanswered replay.
  private var replayed: UInt64?
  /// The parts of frames hidden by a pipeline that may be active, but is not in another property:
  /// its change was lost, or counts as accepted without an answer.
  private var undecided: PipelineProtection?
  /// Whether a change took effect that the session's next connection does not know.
  private var hasNewerChanges = false
  /// The newest token, or `nil` before the first and after a refusal.
  package var token: Data?
  /// The last requested pause sent to the server, if any.
  package var pause: Pause?

  package init(pipeline: Pipeline) {
    self.confirmed = .pipeline(pipeline)
  }

  /// Records a requested change.
  ///
  /// - Parameters:
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
    self.entries[index].isRequested = true
  }

  /// Marks a change that the server accepted, and all changes sent before it: answers arrive in the
  /// order of the requests.
  package mutating func accept(_ requestID: UInt64) {
    for index in self.entries.indices
    where self.entries[index].isSent && self.entries[index].requestID <= requestID {
      self.entries[index].isAccepted = true
    }
  }

  /// Applies a change that the server activated, and all changes before it.
  package mutating func apply(_ requestID: UInt64) {
    while let first = self.entries.first, first.requestID <= requestID {
      self.hasNewerChanges = true
      first.change.apply(to: &self.confirmed)
      if first.change.isSelection { self.undecided = nil }
      self.entries.removeFirst()
    }
  }

  /// Records that a connection is being opened with the newest token.
  package mutating func startMove() {
    self.hasNewerChanges = false
  }

  /// Whether the server has answered all changes that were sent.
  package var areAnswered: Bool { !self.entries.contains { $0.isRequested && !$0.isAccepted } }

  /// Returns the pipeline to select on the connection to which the session moves: the changes since
  /// ``startMove()``, if any.
  package mutating func takeMoveReplay() -> Replay? {
    self.replayed = nil
    if let replay = self.takeReplay() { return replay }
    return self.hasNewerChanges ? Replay(pipeline: self.confirmed, requestID: 0) : nil
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

  /// Removes the changes that a lost connection makes undecidable. Accepted changes stay decidable:
  /// they are requested again, also if they required a revision.
  ///
  /// - Returns: The numbers of the removed changes: they were sent to the server, and must not be
  ///   requested twice.
  package mutating func loseConnection() -> [UInt64] {
    self.replayed = nil
    let lost = self.entries.filter(\.isUndecidable).map(\.requestID)
    if !lost.isEmpty { self.undecided = self.protection }
    self.entries.removeAll(where: \.isUndecidable)
    return lost
  }

  /// The pipeline for opening a session, unless a token restores it.
  package var pipeline: SelectedPipeline { self.confirmed }

  /// The parts of frames that the active pipeline may hide, ignoring an operator's override.
  ///
  /// A protection counts from the request of a change until a change that ends it is active. A
  /// refused change counts until the refusal arrives; one that a lost connection made undecidable
  /// counts until another selected pipeline is active.
  package var protection: PipelineProtection {
    var pipeline = self.confirmed
    let protection = pipeline.possibleProtection.union(self.undecided ?? [])
    return self.entries.reduce(into: protection) { protection, entry in
      entry.change.apply(to: &pipeline)
      protection.formUnion(pipeline.possibleProtection)
    }
  }

  /// The parts of frames certainly hidden by the selected pipeline.
  package var confirmedProtection: PipelineProtection {
    self.undecided == nil ? self.confirmed.certainProtection : []
  }

  /// Returns the pipeline to select as soon as the session is open again: all sent changes that are
  /// not known to have been active, if any, as one change with the number of the last.
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

/// A pipeline selected by a participant, parsed if possible.
package enum SelectedPipeline: Sendable, Hashable {
  case pipeline(Pipeline)
  /// Text that this library cannot parse. The server may be newer, so it decides.
  case text(String)

  /// Parses text. The server's catalogue checks its filters.
  init(text: String) {
    do throws(PipelineTextError) {
      self = .pipeline(try Pipeline(text: text))
    } catch {
      self = .text(text)
    }
  }

  /// The parts of frames that it may hide; all parts for unparsed text.
  var possibleProtection: PipelineProtection {
    switch self {
    case .pipeline(let pipeline): pipeline.protection
    case .text: .all
    }
  }

  /// The parts of frames that it certainly hides; empty for unparsed text.
  var certainProtection: PipelineProtection {
    switch self {
    case .pipeline(let pipeline): pipeline.protection
    case .text: []
    }
  }
}

/// A change of its pipeline requested by a participant.
package enum PipelineChange: Sendable, Hashable {
  /// Replaces the pipeline.
  case select(SelectedPipeline)
  /// Sets parameters by name, by stage.
  case update([String: [String: ParameterValue]])
  /// Turns stages on and off.
  case activate([String: Bool])

  /// Creates a change that replaces the pipeline.
  package static func select(_ pipeline: Pipeline) -> PipelineChange {
    .select(.pipeline(pipeline))
  }

  /// Creates a change that replaces the pipeline using text.
  package static func select(text: String) -> PipelineChange {
    .select(SelectedPipeline(text: text))
  }

  /// Whether the change replaces the whole pipeline.
  var isSelection: Bool { if case .select = self { true } else { false } }

  /// Applies the change to `selected` as the server does. Ignores a change that cannot be applied:
  /// one that the server refuses, or a change of stages of unparsed text.
  func apply(to selected: inout SelectedPipeline) {
    switch self {
    case .select(let pipeline): selected = pipeline
    case .update, .activate:
      guard case .pipeline(var pipeline) = selected else { return }
      do throws(PipelineError) {
        try self.changeStages(of: &pipeline)
      } catch {
        return
      }
      selected = .pipeline(pipeline)
    }
  }

  private func changeStages(of pipeline: inout Pipeline) throws(PipelineError) {
    switch self {
    case .select: break
    case .update(let stages):
      for (stage, parameters) in stages {
        try pipeline.setParameters(parameters, stage: stage)
      }
    case .activate(let stages):
      for (stage, isActive) in stages { try pipeline.setActive(isActive, stage: stage) }
    }
  }
}
