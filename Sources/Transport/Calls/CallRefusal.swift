import GRPCCore
import GRPCProtobuf
import SidelightWire

/// The reason why a call is ended before its handler has done so, with the details that a client
/// needs. Fired as an event at a call's channel, it ends the call from outside.
struct CallRefusal: Sendable {
  /// The guard that ends the call; `nil` if the server itself does.
  var guardName: Guard?
  /// The status, with details.
  var status: GoogleRPCStatus
  /// The announced bytes of the refused message, which are discarded.
  var unreadBytes = 0

  /// Returns the refusal of a call that has reached its deadline.
  static func deadlineExceeded(_ duration: Duration) -> CallRefusal {
    CallRefusal(
      guardName: .deadline,
      status: GoogleRPCStatus(
        code: .deadlineExceeded,
        message: "The call came to its deadline, \(duration) after it began."
      ))
  }

  /// Returns the refusal of a call whose client has closed its side within a message.
  ///
  /// - Parameter missing: The bytes that are missing; 0 if the prefix is incomplete.
  static func truncated(missing: Int) -> CallRefusal {
    let words = missing > 0 ? "\(missing) bytes before its end" : "within its length"
    return CallRefusal(
      guardName: .truncatedMessage, status: self.badMessage(.invalidArgument, "is cut off \(words)")
    )
  }

  /// Returns the refusal of a message that exceeds a limit.
  static func finding(_ finding: MessageScanner.Finding, _ limits: CallLimits) -> CallRefusal {
    switch finding {
    case .tooLong(let length):
      CallRefusal(
        guardName: .messageSize,
        status: self.badMessage(
          .resourceExhausted,
          "has \(length) bytes, the limit (\(limits.name)) is \(limits.maxBytes)"),
        unreadBytes: length)
    case .compressed:
      CallRefusal(
        guardName: .compression,
        status: self.badMessage(
          .unimplemented, "is compressed, which this server does not accept"))
    case .tooComplex(.tooManyFields(let limit)):
      CallRefusal(
        guardName: .messageFields,
        status: self.badMessage(
          .resourceExhausted, "has more fields than the limit (max_message_fields), \(limit)"))
    case .tooComplex(.tooDeep(let limit)):
      CallRefusal(
        guardName: .messageFields,
        status: self.badMessage(
          .invalidArgument, "has messages in messages deeper than the limit, \(limit)"))
    }
  }

  /// Returns the refusal of a message that exceeds the budget of unfinished messages.
  static func noCapacity(for length: Int, _ configuration: GuardConfiguration) -> CallRefusal {
    CallRefusal(
      guardName: .unfinishedMessages,
      status: GoogleRPCStatus(
        code: .resourceExhausted,
        message: "There is no room for \(length) bytes in addition to the unfinished messages.",
        details: .quotaFailure(violations: [
          .init(
            subject: "address",
            description: "max_unfinished_bytes_per_address is "
              + "\(configuration.maxUnfinishedBytesPerAddress)"),
          .init(
            subject: "server",
            description: "max_unfinished_bytes is \(configuration.maxUnfinishedBytes)"),
        ]),
        .retryInfo(delay: .seconds(1))),
      unreadBytes: length)
  }

  private static func badMessage(_ code: RPCError.Code, _ reason: String) -> GoogleRPCStatus {
    GoogleRPCStatus(
      code: code, message: "The message \(reason).",
      details: .badRequest(violations: [.init(field: "message", description: reason)]))
  }
}
