import GRPCCore
import SidelightTransport
public import SidelightWire
import SwiftProtobuf

extension SidelightClient {
  /// Returns the servers of the fleet at which to open a session, the best first, to connect another
  /// client to. Ask again after about 10 s.
  ///
  /// - Parameters:
  ///   - group: The call or room whose sessions belong to one server, at most 128 bytes.
  ///   - participant: The participant, whose sessions are a group if `group` is empty.
  ///   - cost: The load that the session adds, relative to the capacity of a server, 0 to 1.
  /// - Throws: `RPCError`: FAILED_PRECONDITION if the server does not know a fleet.
  public func place(
    group: String = "", participant: String = "", cost: Double = 0
  ) async throws -> [Address] {
    let options = self.dialer.callOptions
    let response = try await self.dialer.withConnection(to: self.addresses[0]) { connection in
      try await Sidelight_V1_FrameFilter.Client(wrapping: connection).place(
        .with {
          $0.group = group
          $0.participant = participant
          $0.cost = cost
        }, options: options)
    }
    return try response.addresses.map { try Address($0) }
  }
}
