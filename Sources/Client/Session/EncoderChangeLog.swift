import SidelightWire
import SwiftProtobuf

/// The requested changes of the encoders' settings and of the composition: those that the server has accepted, which a new
/// connection begins with, and those that it has not answered.
struct EncoderChangeLog: Sendable {
  /// The numbers of these changes begin here; changes of the pipeline have smaller ones.
  private static let firstRequest: UInt64 = 1 << 63

  private var accepted: [String: Sidelight_V1_SetEncoder] = [:]
  private var unanswered: [Sidelight_V1_SetEncoder] = []
  /// The composition that the server has accepted, or that the session was opened with.
  private(set) var composition: CompositionOptions?
  private var unansweredCompositions: [(requestID: UInt64, composition: CompositionOptions)] = []
  private var nextRequest = Self.firstRequest

  init(composition: CompositionOptions? = nil) {
    self.composition = composition
  }

  /// Records a change of the composition.
  ///
  /// - Returns: The message.
  mutating func record(_ composition: CompositionOptions) -> Sidelight_V1_SetComposition {
    self.unansweredCompositions.append((self.nextRequest, composition))
    self.nextRequest += 1
    return self.unansweredCompositions.last.map { Self.message($0, $1) } ?? .init()
  }

  private static func message(
    _ requestID: UInt64, _ composition: CompositionOptions
  ) -> Sidelight_V1_SetComposition {
    .with {
      $0.composition = Sidelight_V1_Composition(composition)
      $0.requestID = requestID
    }
  }

  /// Records a change, of which fields that are 0 keep their values.
  ///
  /// - Parameter isSent: Whether it is sent now. A later change of the same fields replaces one that
  ///   is not.
  /// - Returns: The change with its number.
  mutating func record(
    _ change: Sidelight_V1_SetEncoder, isSent: Bool
  ) -> Sidelight_V1_SetEncoder {
    var change = change
    change.requestID = self.nextRequest
    self.nextRequest += 1
    if !isSent { self.unanswered.removeAll { change.replaces($0) } }
    self.unanswered.append(change)
    return change
  }

  /// Records the server's answer.
  ///
  /// - Returns: Whether the number is of a change of an encoder or of the composition.
  mutating func resolve(_ requestID: UInt64, isAccepted: Bool) -> Bool {
    guard requestID >= Self.firstRequest else { return false }
    if let index = self.unansweredCompositions.firstIndex(where: { $0.requestID == requestID }) {
      let change = self.unansweredCompositions.remove(at: index)
      if isAccepted { self.composition = change.composition }
      return true
    }
    guard let index = self.unanswered.firstIndex(where: { $0.requestID == requestID }) else {
      return true
    }
    let change = self.unanswered.remove(at: index)
    if isAccepted { self.accepted[change.output, default: change].merge(change) }
    return true
  }

  /// The changes to send first on a new connection, which is opened with ``composition``.
  var replay: [Control] {
    let encoders =
      self.accepted.values.map { accepted in
        var accepted = accepted
        accepted.requestID = 0
        return accepted
      } + self.unanswered
    return encoders.map { .setEncoder($0) }
      + self.unansweredCompositions.map { .setComposition(Self.message($0, $1)) }
  }
}

extension Sidelight_V1_SetEncoder {
  /// Returns whether the change sets all that an earlier one of the same output does.
  fileprivate func replaces(_ earlier: Self) -> Bool {
    self.output == earlier.output
      && (earlier.bitRate == 0 || self.bitRate != 0)
      && (earlier.frameRate == 0 || self.frameRate != 0)
      && (earlier.width == 0 || self.width != 0)
  }

  fileprivate mutating func merge(_ later: Self) {
    if later.bitRate != 0 { self.bitRate = later.bitRate }
    if later.frameRate != 0 { self.frameRate = later.frameRate }
    if later.width != 0 { (self.width, self.height) = (later.width, later.height) }
  }
}
