import Foundation
import SidelightKernels
import SidelightServer
import SidelightWire
import SwiftProtobuf

/// An operator's decision as the value of a key: JSON, and the pipeline as a message of the
/// contract.
struct SharedOverride: Codable {
  /// The longest override, with an allowance for clocks that differ.
  private static let maxTime = Duration.seconds(86400 + 3600)

  /// The lineage of the session, in Base64. Missing: all sessions of the participant.
  private var lineage: Data?
  /// The caller, or `nil` for participants of all callers.
  private var caller: String?
  private var participant: String
  private var label: String?
  /// A serialized `sidelight.v1.Pipeline`, in Base64. Missing: the decision ends an override.
  private var pipeline: Data?
  private var reason: String?
  /// The end, in nanoseconds since 1970.
  private var until: Int64

  /// - Throws: `BinaryEncodingError`, which messages without required fields never cause.
  init(_ record: OverrideStore.Record, clock: SessionClock) throws {
    switch record.target {
    case .session(let session):
      self.lineage = session.lineage.bytes
      self.caller = session.identity.caller
      self.participant = session.identity.participant
      self.label = session.label
    case .participants(let participants):
      self.caller = participants.caller
      self.participant = participants.name
    }
    let end: Duration
    switch record.decision {
    case .forced(let pipeline, let reason, until: let time):
      self.pipeline = try Sidelight_V1_Pipeline(pipeline).serializedBytes()
      self.reason = reason
      end = time
    case .lifted(until: let time): end = time
    }
    self.until =
      Int64(clamping: clock.nanosecondsSince1970())
      + Int64((end - clock.now()) / .nanoseconds(1))
  }

  /// Returns the decision.
  ///
  /// - Parameter number: The decision's number, from the key.
  /// - Throws: ``FieldViolation`` or `BinaryDecodingError` if a value is invalid.
  func record(number: UInt64, clock: SessionClock) throws -> OverrideStore.Record {
    let wallNow = clock.nanosecondsSince1970()
    let (left, isOverflow) = self.until.subtractingReportingOverflow(Int64(clamping: wallNow))
    guard !isOverflow, .nanoseconds(left) <= Self.maxTime else {
      throw FieldViolation(
        field: "until",
        reason: "is \(self.until) ns since 1970, in more than 25 hours; check the clocks")
    }
    // Later decisions have larger numbers.
    guard number <= wallNow + 3_600_000_000_000 else {
      throw FieldViolation(
        field: "number",
        reason: "is \(number) ns since 1970, in more than an hour; check the clocks")
    }
    try ParticipantName.check(self.participant, field: "participant")
    try ContractLimits.check(self.caller ?? "", atMost: 4096, field: "caller")
    let end = clock.now() + .nanoseconds(left)
    var decision = OverrideStore.Decision.lifted(until: end)
    if let pipeline = self.pipeline {
      let reason = self.reason ?? ""
      try ContractLimits.check(reason, atMost: ContractLimits.maxReasonBytes, field: "reason")
      let parsed = try Pipeline(Sidelight_V1_Pipeline(serializedBytes: pipeline))
      try parsed.checkByteCount()
      decision = .forced(parsed, reason: reason, until: end)
    }
    guard let lineage = self.lineage else {
      guard !self.participant.isEmpty else {
        throw FieldViolation(field: "participant", reason: "is missing, and so is the lineage")
      }
      return OverrideStore.Record(
        target: .participants(.init(name: self.participant, caller: self.caller)),
        decision: decision, number: number)
    }
    guard lineage.count == 16, let caller = self.caller else {
      throw FieldViolation(field: "lineage", reason: "must have 16 bytes and a caller")
    }
    let label = self.label ?? ""
    try ContractLimits.check(label, atMost: ContractLimits.maxLabelBytes, field: "label")
    return OverrideStore.Record(
      target: .session(
        .init(
          lineage: SessionLineage(token: lineage),
          identity: CallerIdentity(caller: caller, participant: self.participant), label: label)),
      decision: decision, number: number)
  }
}
