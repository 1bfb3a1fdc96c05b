import Logging
import NIOCore
import NIOSSL
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Tests of the counted reasons of connection ends. `test_connection_ends.py` covers peers.
@Suite(.timeLimit(.minutes(5))) struct ConnectionEndTests {
  private struct Unheard: Error {}

  @Test(
    arguments: [
      (NIOSSLError.uncleanShutdown, .client),
      (ChannelError.eof, .client),
      (NIOSSLError.writeDuringTLSShutdown, .tls),
      (NIOSSLExtraError.failedToValidateHostname, .tls),
      (IOError(errnoCode: ECONNRESET, reason: "read"), .socket),
      (ChannelError.inputClosed, .other),
      (Unheard(), .other),
    ] as [(any Error, ConnectionEnd)])
  func `a connection that ends with an error is counted by the kind of error`(
    error: any Error, expected: ConnectionEnd
  ) {
    #expect(ConnectionEnd(error) == expected)
  }

  @Test
  func `a connection that the server closes during shutdown is counted as closed by the server`()
    async throws
  {
    let running = RunningServer()
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await running.run() }
      try await withRawPeer(try await running.address) { peer in
        peer.send(RawPeer.preface)
        _ = await peer.next { _ in true }
        running.drain()
        // Messages that came before the answer to this are served; the client has not sent any.
        let ping = await peer.next { $0.isPing && !$0.isKeepalive }
        peer.send(RawPeer.frame(6, flags: 1, stream: 0, ping?.payload ?? ByteBuffer()))
        await peer.end()
      }
      await running.kill()
    }
    #expect(running.server.connectionEnds == [.server: 1])
  }

  /// Keeps log entries, and holds the guard that reports.
  private final class GateLog: LogHandler {
    let gate = Gate()
    private let record = Mutex<String?>(nil)

    /// The reported end of the connection.
    var end: String? { self.record.withLock(\.self) }
    var metadata: Logger.Metadata {
      get { [:] }
      set {}
    }
    var logLevel: Logger.Level {
      get { .debug }
      set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { nil }
      set {}
    }

    func log(event: LogEvent) {
      switch "\(event.message)" {
      case "a guard acted": self.gate.hold()
      case "connection closed": self.record.withLock { $0 = "\(event.metadata ?? [:])" }
      default: break
      }
    }
  }

  @Test func `a connection reset that a write detects is counted as a socket error`() async throws {
    let log = GateLog()
    var configuration = ServerConfiguration()
    // An event loop that other connections do not use.
    configuration.transport.eventLoops = 1
    try await withServer(configuration, logger: Logger(label: "test") { _ in log }) {
      server, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        peer.call(Attack.process)
        peer.data(ByteBuffer(bytes: [1, 0, 0, 0, 1, 0]))
        // The guard has reported that the call is refused, and writes that next.
        for await _ in log.gate.entered { break }
        let socket = try #require(peer.channel as? any SocketOptionProvider)
        try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await peer.channel.close().get()
        log.gate.open(for: 1)
        try await expectEventually("the end is logged") { log.end != nil }
        #expect(server.connectionEnds == [.socket: 1])
        #expect(log.end?.contains("write") == true, "\(log.end ?? "")")
      }
    }
  }
}
