import GRPCProtobuf

/// What was done to a frame that comes back.
enum Disposition: Sendable, Hashable {
  /// The pipeline made it.
  case filtered
  /// It is the input.
  case passedThrough
}

/// A frame that was made and waits to be written.
struct MadeFrame<Payload: Sendable>: Sendable {
  /// The client's own number.
  var sequence: UInt64
  /// What was done.
  var disposition: Disposition
  /// The selection that it was made with.
  var revision: Revision
  /// Bytes of pixels.
  var byteCount: Int
  /// The message, less what is known only when it is written.
  var payload: Payload
}

/// Why and where a frame was dropped.
struct Drop: Sendable, Hashable {
  var reason: DropReason
  var stage: DropStage
  /// What was wrong, where something was.
  var diagnostic: GoogleRPCStatus? = nil
}

/// Frames in a row that were dropped for one reason.
struct DropRun: Sendable, Hashable {
  var firstSequence: UInt64
  var lastSequence: UInt64
  var count: UInt32
  var drop: Drop

  /// Takes the run that follows into this one, if both say the same and no diagnostic would be lost.
  mutating func absorb(_ next: DropRun) -> Bool {
    guard self.drop == next.drop, self.drop.diagnostic == nil else { return false }
    self.lastSequence = next.lastSequence
    self.count += next.count
    return true
  }
}

/// The number of a selection, and the message that made it.
struct Revision: Sendable, Hashable {
  /// Counts up from 1 with each accepted change.
  var number: UInt64
  /// That of the message; 0 for `open`.
  var requestID: UInt64
}
