import Foundation
import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Testing

/// Calls on WebSockets to a real server.
@Suite(.timeLimit(.minutes(5))) struct WebSocketCallTests {
  /// Runs a server with a web endpoint, for as long as `body` runs.
  private func withServer<Result: Sendable>(
    _ change: (inout ServerConfiguration) -> Void = { _ in },
    _ body: @Sendable (SidelightServer, Address) async throws -> Result
  ) async throws -> Result {
    var configuration = ServerConfiguration()
    change(&configuration)
    return try await SidelightTestSupport.withServer(configuration, web: TokenSite.endpoint) {
      server, _ in
      try await body(server, try #require(try await server.webAddress))
    }
  }

  static let opening = Sidelight_V1_ClientMessage.with {
    $0.open.dropPolicy = .neverDrop
    $0.open.pipelineText = "colorInvert"
  }

  static func frame(_ sequence: UInt64, _ pixels: [UInt8]) -> Sidelight_V1_ClientMessage {
    .with {
      $0.frame.sequence = sequence
      $0.frame.image.format = .gray8
      $0.frame.image.width = UInt32(pixels.count)
      $0.frame.image.height = 1
      $0.frame.image.inline = Data(pixels)
    }
  }

  /// Opens a session, and filters one frame.
  static func begin(_ peer: WebPeer) async throws {
    #expect(try await peer.open() == 101)
    try await peer.send(Self.opening)
    #expect(try await peer.message()?.opened != nil)
    try await Self.filter(peer, 1)
  }

  static func filter(_ peer: WebPeer, _ sequence: UInt64) async throws {
    let pixels = (0 ..< 40).map { UInt8($0 * 5) }
    try await peer.send(Self.frame(sequence, pixels))
    while let message = try await peer.message() {
      guard case .frame(let frame)? = message.kind else { continue }
      #expect(frame.sequence == sequence)
      #expect(Array(frame.image.inline) == pixels.map { 255 - $0 })
      return
    }
    Issue.record("the frame has no outcome")
  }

  @Test func `a session filters frames, and ends with 1000 when the client ends its side`()
    async throws
  {
    try await self.withServer { _, address in
      try await WebPeer.with(address) { peer in
        try await Self.begin(peer)
        try await Self.filter(peer, 2)
        try await peer.send(clientFrame(WebPeer.Frame.text, Array("end".utf8)))
        var last: WebPeer.Frame?
        while let frame = try await peer.frame(), frame.opcode != WebPeer.Frame.close {
          last = frame
        }
        #expect(last?.opcode != WebPeer.Frame.text, "OK has no text")
        try await peer.send(clientFrame(WebPeer.Frame.close, [3, 0xE8]))
        #expect(try await peer.frame() == nil)
      }
    }
  }

  @Test func `bytes that follow the handshake at once are not lost`() async throws {
    try await self.withServer { _, address in
      try await WebPeer.with(address) { peer in
        let head = [
          "GET /sidelight.v1.FrameFilter/Process HTTP/1.1", "Host: localhost",
          "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
          "Sec-WebSocket-Protocol: sidelight.v1,bearer.abc", "", "",
        ].joined(separator: "\r\n")
        let opening = clientFrame(WebPeer.Frame.binary, try Self.opening.serializedBytes())
        try await peer.send(Array(head.utf8) + opening)
        // The response's head ends where the first frame begins: 0x82.
        #expect(try await peer.skipHead().contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        #expect(try await peer.message()?.opened != nil)
      }
    }
  }

  @Test func `an error has a text, and its code in the close frame`() async throws {
    try await self.withServer { _, address in
      try await WebPeer.with(address) { peer in
        #expect(try await peer.open() == 101)
        try await peer.send(.with { $0.open.pipelineText = "sepiaTome" })
        let text = try #require(try await peer.frame())
        #expect(text.opcode == WebPeer.Frame.text)
        let status = try JSONSerialization.jsonObject(with: Data(text.content)) as? [String: Any]
        #expect(status?["code"] as? Int == RPCError.Code.invalidArgument.rawValue)
        let details = try #require(status?["details"] as? String)
        #expect(Data(base64Encoded: details)?.isEmpty == false)
        #expect((status?["message"] as? String)?.contains("sepiaTone") == true)
        let close = try #require(try await peer.frame())
        #expect(close.closeCode == 4000 + RPCError.Code.invalidArgument.rawValue)
        #expect(close.content.count <= 125)
      }
    }
  }

  @Test(arguments: [
    ("a text", clientFrame(WebPeer.Frame.text, Array("stop".utf8)), 1003),
    ("a frame without a mask", [0x82, 0x00], 1002),
    ("reserved bits", [0xC2, 0x80, 0, 0, 0, 0], 1002),
    ("an announced gigabyte", [0x82, 0xFF, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0], 1009),
    ("a continuation of nothing", clientFrame(0), 1002),
  ])
  func `a broken client ends only its own session`(
    _ name: String, _ bytes: [UInt8], _ code: Int
  ) async throws {
    try await self.withServer { server, address in
      try await WebPeer.with(address) { bystander in
        try await Self.begin(bystander)
        try await WebPeer.with(address) { peer in
          try await Self.begin(peer)
          try await peer.send(bytes)
          #expect(try await peer.closeCode() == code)
        }
        try await Self.filter(bystander, 2)
      }
    }
  }

  @Test func `a session reads no more while its client takes nothing`() async throws {
    try await self.withServer { server, address in
      try await WebPeer.with(address) { bystander in
        try await Self.begin(bystander)
        try await WebPeer.with(address) { peer in
          try await Self.begin(peer)
          for id in 0 ..< 2000 {
            try await peer.send(.with { $0.ping.id = UInt64(id) })
          }
          try await peer.send(clientFrame(WebPeer.Frame.text, Array("end".utf8)))
          try await Self.filter(bystander, 2)
          var ids: [UInt64] = []
          while let message = try await peer.message() {
            if case .pong(let pong)? = message.kind { ids.append(pong.id) }
          }
          #expect(ids == ids.sorted())
        }
        try await Self.filter(bystander, 3)
      }
    }
  }

  @Test(arguments: ["/", "/sidelight.v1.FrameFilter/Nothing", "/sidelight.v1.FrameFilter/"])
  func `a path without a method opens no WebSocket`(_ path: String) async throws {
    try await self.withServer { _, address in
      let status = try await WebPeer.with(address) { try await $0.open(path) }
      #expect(status == 404)
    }
  }

  @Test func `connections beyond the limit are closed at once`() async throws {
    try await self.withServer {
      $0.guards.maxConnectionsPerAddress = 2
    } _: { _, address in
      try await WebPeer.with(address) { one in
        try await Self.begin(one)
        try await WebPeer.with(address) { two in
          try await Self.begin(two)
          #expect(try await WebPeer.with(address) { try await $0.open() } == 0)
          try await Self.filter(two, 2)
        }
      }
    }
  }

  @Test func `a silent client is asked, and closed when it does not answer`() async throws {
    try await self.withServer {
      $0.guards.keepaliveInterval = .milliseconds(10)
      $0.guards.keepaliveTimeout = .milliseconds(100)
    } _: { server, address in
      try await WebPeer.with(address) { peer in
        #expect(try await peer.open() == 101)
        let (ping, end) = (try await peer.frame(), try await peer.frame())
        #expect(ping?.opcode == WebPeer.Frame.ping)
        #expect(end == nil)
      }
      #expect(server.guardCounts[.keepalive] == 1)
    }
  }

  @Test func `a connection that sends no request is closed`() async throws {
    try await self.withServer {
      $0.guards.prefaceTimeout = .milliseconds(10)
    } _: { server, address in
      let frame = try await WebPeer.with(address) { try await $0.frame() }
      #expect(frame == nil)
      #expect(server.guardCounts[.preface] == 1)
    }
  }

  @Test func `a client that floods with pings is closed`() async throws {
    try await self.withServer {
      $0.guards.pingBurst = 10
      $0.guards.pingsPerSecond = 1
    } _: { server, address in
      try await WebPeer.with(address) { peer in
        #expect(try await peer.open() == 101)
        try await peer.send((0 ..< 100).flatMap { _ in clientFrame(WebPeer.Frame.ping, [7]) })
        var pongs = 0
        while let frame = try await peer.frame() {
          if frame == WebPeer.Frame(opcode: WebPeer.Frame.pong, content: [7]) { pongs += 1 }
          if let code = frame.closeCode { #expect(code == 1008) }
        }
        #expect((10 ... 12).contains(pongs))
      }
      #expect(server.guardCounts[.pings] == 1)
    }
  }
}
