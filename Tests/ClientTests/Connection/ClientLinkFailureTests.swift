import GRPCCore
import GRPCProtobuf
import SidelightClient
import SwiftProtobuf
import Testing

/// Tests of the meanings of connection ends.
@Suite struct ClientLinkFailureTests {
  static let meanings: [(RPCError.Code, LinkFailure)] = [
    (.unavailable, .transient), (.cancelled, .transient), (.unknown, .transient),
    (.internalError, .transient), (.aborted, .transient), (.deadlineExceeded, .transient),
    (.failedPrecondition, .precondition), (.invalidArgument, .permanent),
    (.unauthenticated, .permanent), (.permissionDenied, .permanent),
    (.unimplemented, .permanent), (.notFound, .permanent),
    // Without a time to wait: a limit that the session itself exceeded.
    (.resourceExhausted, .permanent),
  ]

  @Test(arguments: meanings)
  func `each status means one of four things`(code: RPCError.Code, expected: LinkFailure) {
    #expect(LinkFailure(RPCError(code: code, message: "")) == expected)
  }

  @Test func `a server without room says when to ask again`() throws {
    let status = GoogleRPCStatus(
      code: .resourceExhausted, message: "full",
      details: .quotaFailure(violations: []), .retryInfo(delay: .milliseconds(1500)))
    let error = RPCError(
      code: .resourceExhausted, message: "full", metadata: status.rpcErrorMetadata)
    #expect(LinkFailure(error) == .exhausted(retryAfter: .milliseconds(1500)))
  }

  @Test func `a session does not escape an override whose pipeline is no longer valid`() throws {
    func failure(_ reason: String) -> LinkFailure {
      let status = GoogleRPCStatus(
        code: .failedPrecondition, message: "no",
        details: .errorInfo(reason: reason, domain: "sidelight", metadata: [:]))
      return LinkFailure(
        RPCError(code: .failedPrecondition, message: "no", metadata: status.rpcErrorMetadata))
    }
    #expect(failure("OVERRIDE_INVALID") == .permanent)
    #expect(failure("OTHER") == .precondition)
  }

  @Test func `an error that is no status is the session's own, and would be so again`() {
    struct Odd: Error {}
    #expect(LinkFailure(Odd()) == .permanent)
  }
}
