import SidelightClient
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of messages about a call that ends before the client can send them.
@Suite(.timeLimit(.minutes(5))) struct ClientLateFrameTests {
  /// The client's window. With more bytes waiting to be written, the client stops sending frames of
  /// a call.
  private static let windowBytes = 64 << 10

  /// Most of the window, but less than all of it: noise, which image files cannot compress.
  private static func still() throws -> [UInt8] {
    let file = try ImageEncoder(.png()).encode(
      try Sidelight_V1_Image.noise(.rgb24, 136, 136).makeFrame())
    try #require((windowBytes * 6 / 8 ..< windowBytes * 7 / 8).contains(file.count))
    return file
  }

  @Test
  func `a still that is answered while a large frame waits to be written does not cost the frame`()
    async throws
  {
    let (gate, still) = (Gate(), try Self.still())
    var configuration = ServerConfiguration()
    // All of the frame may be written, and waits only for the socket.
    configuration.transport.streamWindowBytes = 64 << 20
    try await withServer(configuration, catalogue: gate.catalogue) { _, server in
      // The still passes, and the first of the frame.
      try await HoldingProxy.withProxy(to: server, holdingAfter: 2 * Self.windowBytes) { proxy in
        var transport = TransportConfiguration()
        transport.connections = 1
        transport.streamWindowBytes = Self.windowBytes
        // Half of the answer arrives before its end.
        transport.receiveBufferBytes = 4 << 10
        try await SidelightClient.connect(to: proxy.address, transport: transport) { client in
          try await client.withSession { session in
            async let answer = client.apply([.filter("gate")], toFile: still, as: .png)
            for await _ in gate.entered { break }
            let frame = try Sidelight_V1_Image.noise(.gray8, 4096, 4096).makeFrame()
            await session.send(VideoFrame(frame))
            for await _ in proxy.held { break }
            // The client would grant more for the answer, but can send the grant only when the
            // answer is complete.
            gate.open(for: 1)
            #expect(try await answer.count > Self.windowBytes / 2)
            proxy.release()
            session.finish()
            var count = 0
            for try await outcome in session.outcomes where outcome.picture != nil { count += 1 }
            #expect(count == 1)
          }
        }
      }
    }
  }
}
