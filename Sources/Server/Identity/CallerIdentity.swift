import SidelightKernels
import SidelightWire

/// The name under which sessions, rates and assets count: a caller, or one of the participants that
/// it vouches for. Participants of different callers are different, even if their names are equal.
package struct CallerIdentity: Sendable, Hashable, CustomStringConvertible {
  package let caller: String
  /// The participant's name, or empty for the caller itself.
  package let participant: String

  /// - Parameters:
  ///   - caller: The caller's name.
  ///   - participant: The participant's name, or empty for the caller itself.
  package init(caller: String, participant: String = "") {
    self.caller = caller
    self.participant = participant
  }

  /// Whether it is a participant.
  package var isParticipant: Bool { !self.participant.isEmpty }

  /// The caller that vouches for a participant, or `nil` for a caller.
  package var parent: CallerIdentity? {
    self.isParticipant ? CallerIdentity(caller: self.caller) : nil
  }

  /// The caller's name as operators see it and state it in requests.
  package var listedCaller: String {
    self.caller.clipped(toBytes: ContractLimits.maxListedPeerBytes)
  }

  /// The name for errors.
  package var description: String {
    self.isParticipant
      ? "participant \(self.participant.debugDescription) of \(self.caller)" : self.caller
  }
}
