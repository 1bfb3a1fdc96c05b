import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import SidelightWire

extension Address {
  /// Returns the IP addresses of a host name, with the port; an address without a name itself.
  ///
  /// - Throws: `RPCError` if the name cannot be looked up.
  package func resolved() async throws -> [Address] {
    guard case .tcp(let host, let port) = self, !host.isIPAddress else { return [self] }
    let resolver = NameResolvers.DNS().resolver(for: ResolvableTargets.DNS(host: host, port: port))
    for try await result in resolver.names {
      return result.endpoints.flatMap(\.addresses).compactMap { address in
        let host = address.ipv4?.host ?? address.ipv6?.host
        return host.map { .tcp(host: $0, port: port) }
      }
    }
    return []
  }
}
