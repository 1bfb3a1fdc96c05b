import NIOEmbedded
import NIOHTTP2
import Testing

import SidelightTransport
import SidelightWire

@Suite struct WindowUpdateFilterTests {
  @Test
  func `WINDOW_UPDATEs stay below gRPC, and whatever else is for the connection goes on`() throws {
    let channel = EmbeddedChannel(handler: WindowUpdateFilter())
    defer { _ = try? channel.finish() }
    let settings = HTTP2Frame(streamID: .rootStream, payload: .settings(.ack))
    try channel.writeInbound(
      HTTP2Frame(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: 7)))
    try channel.writeInbound(settings)
    try channel.writeInbound(
      HTTP2Frame(streamID: 1, payload: .windowUpdate(windowSizeIncrement: 7)))
    guard case .settings(.ack)? = try channel.readInbound(as: HTTP2Frame.self)?.payload else {
      Issue.record("the settings did not go on")
      return
    }
    #expect(try channel.readInbound(as: HTTP2Frame.self) == nil)
  }
}
