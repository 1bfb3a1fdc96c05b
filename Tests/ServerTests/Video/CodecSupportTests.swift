import Foundation
import GRPCCore
import SidelightCodecs
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// What a server says about the codecs that it has, also if it was built without them.
@Suite(.timeLimit(.minutes(5))) struct CodecSupportTests {
  @Test(arguments: VideoCodec.allCases)
  func `the server's information, and errors that name the format, say what a server lacks`(
    codec: VideoCodec
  ) async throws {
    let format = Sidelight_V1_PixelFormat(try #require(EncodedFormat(rawValue: codec.rawValue)))
    let image = Sidelight_V1_Image.with {
      $0.format = format
      $0.inline = Data([0xFF, 0x13, 0x37])
    }
    let reason =
      "is \(codec.name), which this server "
      + (codec.library == nil ? "was built without" : "does not encode")
    try await withServer { _, address in
      try await withStub(address) { stub in
        let codecs = try await stub.getServerInfo(.init()).codecs
        let info = try #require(codecs.first { $0.format == format })
        #expect(info.library == codec.library ?? "")
        #expect(info.decodes == codec.canDecode && info.encodes == codec.canEncode)
        // The session goes on.
        let answers = try await stub.converse([
          .open(), .frame(1, image), .frame(2, .noise(.i420, 16, 16)),
        ])
        #expect(answers.frames.map(\.sequence) == [2])
        #expect(answers.drops.map(\.reason) == [.invalidFrame])
        let diagnostic = try #require(answers.drops.first?.diagnostic)
        #expect(
          (diagnostic.code == Int32(Status.Code.unimplemented.rawValue)) == !codec.canDecode)
        #expect(diagnostic.message.contains(reason) == !codec.canDecode)
        guard !codec.canEncode else {
          _ = try await stub.converse([.open { $0.output.format = format }])
          return
        }
        let error = await #expect(throws: RPCError.self) {
          try await stub.converse([.open { $0.output.format = format }])
        }
        #expect(error?.code == .unimplemented)
        let message = error?.message ?? ""
        #expect(message.contains("open.output.format") && message.contains(reason))
      }
    }
  }
}
