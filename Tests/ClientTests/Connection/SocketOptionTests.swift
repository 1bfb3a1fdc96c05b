import NIOCore
import NIOPosix
import SidelightClient
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if os(Linux)
  /// The options of TCP sockets, read from the kernel.
  @Suite(.timeLimit(.minutes(5))) struct SocketOptionTests {
    /// The options of one end of a connection.
    struct Options: Hashable {
      var congestionControl: String
      var unsentBytes: CInt

      /// Reads them.
      init(of descriptor: CInt) {
        var name = [UInt8](repeating: 0, count: 16)
        var size = socklen_t(name.count)
        getsockopt(descriptor, CInt(IPPROTO_TCP), CInt(TCP_CONGESTION), &name, &size)
        self.congestionControl = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        self.unsentBytes = 0
        size = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(
          descriptor, CInt(IPPROTO_TCP), CInt(TCP_NOTSENT_LOWAT), &self.unsentBytes, &size)
      }

      /// Reads the options at both ends of the connections to a port of this process.
      static func ofConnections(to port: Int) -> (server: Set<Options>, client: Set<Options>) {
        var (server, client): (Set<Options>, Set<Options>) = ([], [])
        for descriptor in 0 ..< CInt(getdtablesize()) {
          guard let peer = Self.port(of: descriptor, getpeername) else { continue }
          if peer == port {
            client.insert(Options(of: descriptor))
          } else if Self.port(of: descriptor, getsockname) == port {
            server.insert(Options(of: descriptor))
          }
        }
        return (server, client)
      }

      private static func port(
        of descriptor: CInt,
        _ name: (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt
      ) -> Int? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout.size(ofValue: address))
        let result = withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &size) }
        }
        guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
      }
    }

    @Test func `each end of a connection has its own congestion control, and few unsent bytes`()
      async throws
    {
      var configuration = ServerConfiguration()
      configuration.transport.congestionControl = "reno"  // The one that every Linux offers.
      try await withServer(configuration) { _, address in
        guard case .tcp(_, let port) = address else { return }
        try await SidelightClient.connect(to: address) { client in
          try await client.withSession { _ in
            let (server, client) = Options.ofConnections(to: port)
            #expect(server.map(\.congestionControl) == ["reno"])
            #expect(client.count == 1)
            #expect(server.union(client).allSatisfy { 1 << 14 ... 1 << 18 ~= $0.unsentBytes })
          }
        }
        var transport = TransportConfiguration()
        transport.congestionControl = "reno"
        try await SidelightClient.connect(to: address, transport: transport) { client in
          try await client.withSession { _ in
            let client = Options.ofConnections(to: port).client
            #expect(client.map(\.congestionControl) == ["reno"])
          }
        }
      }
    }

    @Test func `a congestion control that the system lacks is refused on both sides`() async throws
    {
      var transport = TransportConfiguration()
      transport.congestionControl = "carrier-pigeon"
      let error = await #expect(throws: ConfigurationError.self) {
        try await SidelightClient.connect(
          to: .tcp(host: "127.0.0.1", port: 1), transport: transport
        ) { _ in }
      }
      #expect(error?.setting == "transport.congestionControl")
      var configuration = ServerConfiguration()
      configuration.transport = transport
      await #expect(throws: ConfigurationError.self) {
        try await withServer(configuration) { _, _ in }
      }
    }
  }
#endif
