import Foundation
import GRPCCore
import GRPCProtobuf
import SidelightClient
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The ownership and lifetime of assets that callers put.
@Suite(.timeLimit(.minutes(5))) struct AssetTests {
  static let hat: Pipeline = [
    .filter("overlay", ["asset": .text("hat"), "fit": .text("stretch")])
  ]
  static let gray = Sidelight_V1_Image.gray(16, 8)

  /// The colour of a picture's first pixel: blue, green, red.
  static func color(_ image: Sidelight_V1_Image) -> [UInt8] { Array(image.inline.prefix(3)) }

  @Test func `a caller uploads an image, and selects it in an open session`() async throws {
    try await withServer { server, address in
      try await AssetClient.with(address) { client in
        let answers = try await client.stub.converseInTurn(
          .open(), [.frame(1, Self.gray), .select(Self.hat), .frame(2, Self.gray)])
        #expect(answers.errors.count == 1, "it is not there yet")
        let put = try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        #expect(put.asset.name == "hat" && put.asset.width == 4 && !put.replaced)
        #expect(put.asset.kind == .image && put.asset.origin == .caller)
        #expect(put.asset.sha256.count == 32)
        #expect(server.assetContents.bytes == Int(put.asset.memoryBytes))
        let frames = try await client.stub.converseInTurn(
          .open(), [.frame(1, Self.gray), .select(Self.hat), .frame(2, Self.gray)]
        ).frames
        #expect(frames.map { Self.color($0.image) } == [[128, 128, 128], [0, 0, 255]])
      }
    }
  }

  @Test
  func `still images and CheckPipeline find a table that the caller has uploaded`() async throws {
    try await withServer { _, address in
      try await AssetClient.with(address) { client in
        let put = try await client.put("looks/negative.cube", AssetFiles.negative)
        #expect(put.asset.kind == .cube && put.asset.entries == 2 && !put.asset.isCube)
        let text = "colorCube(asset: \"looks/negative.cube\")"
        let checked = try await client.stub.checkPipeline(.with { $0.text = text })
        #expect(checked.passes.count == 1)
        let result = try await client.stub.apply(
          .with {
            $0.image = .gray(16, 8, level: 28)
            $0.pipeline = checked.pipeline
          })
        #expect(Self.color(result.image) == [227, 227, 227])
      }
    }
  }

  @Test
  func `a new upload replaces an asset; a session uses the old one until its next select`()
    async throws
  {
    try await withServer { server, address in
      try await AssetClient.with(address) { client in
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        let one = server.assetContents.bytes
        try await Self.withSession(client, Self.hat) { session in
          #expect(try await session.color() == [0, 0, 255])
          let again = try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.blue))
          #expect(again.replaced)
          #expect(server.assetContents.count == 1)
          #expect(server.assetContents.bytes == 2 * one, "the session still holds the old one")
          #expect(try await session.color() == [0, 0, 255])
          session.send(.select(Self.hat))
          #expect(try await session.color() == [255, 0, 0])
        }
        try await expectEventually("the old one's memory is back") {
          server.assetContents.bytes == one
        }
      }
    }
  }

  @Test
  func `a deleted asset and its memory remain until the session that uses it ends`() async throws {
    try await withServer { server, address in
      try await AssetClient.with(address) { client in
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        try await Self.withSession(client, Self.hat) { session in
          #expect(try await session.color() == [0, 0, 255])
          try await client.delete("hat")
          #expect(try await client.names() == [])
          #expect(server.assetContents.count == 0 && server.assetContents.bytes > 0)
          #expect(try await session.color() == [0, 0, 255])
          // A frame of another size needs another plan, with the same asset.
          #expect(try await session.color(of: .gray(32, 16)) == [0, 0, 255])
          session.send(.select(Self.hat, requestID: 9))
          let error = try await session.receiveError()
          #expect(error.requestID == 9 && error.status.message.contains("\"hat\""))
          #expect(try await session.color() == [0, 0, 255], "the old pipeline stays active")
        }
        // The cache may hold a plan of the session; another user of the memory can reclaim it.
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.blue))
      }
    }
  }

  @Test
  func `the memory of deleted assets in cached plans is available to the next upload`() async throws
  {
    var configuration = ServerConfiguration()
    // Room for three pictures of 64x64, and not for four.
    configuration.assets.maxMemoryBytesPerCaller =
      3
      * ImageAsset.maxByteCount(
        of: FrameSize(width: 64, height: 64))
    try await withServer(configuration) { server, address in
      try await AssetClient.with(address) { client in
        let file = try AssetFiles.png(64, 64, AssetFiles.red)
        for round in 1 ... 8 {
          try await client.put("hat", file)
          let frames = try await client.stub.converse([
            .open(Self.hat), .frame(1, .gray(16 + round, 8)),
          ]).frames
          #expect(Self.color(try #require(frames.first).image) == [0, 0, 255])
          if round.isMultiple(of: 2) { try await client.delete("hat") }
        }
        #expect(server.assetContents.count == 0)
      }
    }
  }

  @Test
  func `a caller cannot use, list or delete another caller's assets, and may use the same names`()
    async throws
  {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let addresses = [Address.tcp(host: "127.0.0.1", port: 0), .unix(path: folder.file())]
    try await withServer(listeningOn: addresses) { server, first in
      let second = try await server.listeningAddresses[1]
      try await AssetClient.with(first) { alice in
        try await AssetClient.with(second) { bob in
          try await alice.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
          #expect(try await bob.names() == [])
          let refusal = try await AssetRefusal.of { try await bob.delete("hat") }
          #expect(refusal.code == .notFound && refusal.reason == "ASSET_NOT_FOUND")
          let error = await #expect(throws: RPCError.self) {
            try await bob.stub.converse([.open(Self.hat)])
          }
          #expect(error?.code == .invalidArgument)
          #expect(error?.message.contains("there is no asset named \"hat\"") == true)

          try await bob.put("hat", AssetFiles.png(4, 4, AssetFiles.blue))
          for (client, color) in [(alice, [0, 0, 255]), (bob, [255, 0, 0])] as [(_, [UInt8])] {
            let frames = try await client.stub.converse([.open(Self.hat), .frame(1, Self.gray)])
              .frames
            #expect(frames.map { Self.color($0.image) } == [color])
          }
          try await bob.delete("hat")
          #expect(try await alice.names() == ["hat"])
        }
      }
    }
  }

  @Test
  func `the server's assets are available to every caller, and their names are reserved`()
    async throws
  {
    var catalogue = FilterCatalogue.builtIn
    let store = AssetStore()
    store.put(.image(try ImageAsset(picture(6, 5))), named: "logo")
    catalogue.assets = store
    try await withServer(catalogue: catalogue) { _, address in
      try await AssetClient.with(address) { client in
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        let assets = try await client.assets.listAssets(.init()).assets
        #expect(assets.map(\.name) == ["hat", "logo"])
        #expect(assets.map(\.origin) == [.caller, .server])
        #expect(assets[1].width == 6 && assets[1].height == 5 && assets[1].memoryBytes == 0)
        let put = try await AssetRefusal.of {
          try await client.put("logo", AssetFiles.png(4, 4, AssetFiles.red))
        }
        #expect(put.code == .alreadyExists && put.reason == "ASSET_NAME_TAKEN")
        #expect(put.violations == ["header.name"])
        let deletion = try await AssetRefusal.of { try await client.delete("logo") }
        #expect(deletion.code == .notFound)
        let frames = try await client.stub.converse([
          .open([.filter("overlay", ["asset": .text("logo")])]), .frame(1, Self.gray),
        ]).frames
        #expect(frames.first?.image.inline != Self.gray.inline)
      }
    }
  }

  @Test func `an operator's override cannot use the participant's assets`() async throws {
    try await withServer { _, address in
      try await AssetClient.with(address) { client in
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        try await Self.withSession(client, Self.hat) { session in
          let id = session.opened.sessionID
          let error = await #expect(throws: RPCError.self) {
            try await withOperators(address) { operators in
              _ = try await operators.overrideSession(
                .with {
                  $0.sessionID = id
                  $0.pipeline = Sidelight_V1_Pipeline(Self.hat)
                  $0.timeToLive.seconds = 60
                })
            }
          }
          #expect(error?.code == .invalidArgument)
          #expect(error?.message.contains("pipeline.stages[0]") == true)
          let color = try await session.color()
          #expect(color == [0, 0, 255])
        }
      }
    }
  }

  @Test func `assets expire one lifetime after their owner's last session`() async throws {
    let clock = ManualClock()
    var configuration = ServerConfiguration()
    configuration.assets.lifetime = .seconds(100)
    configuration.assets.uploadTimeout = .seconds(3600)
    try await withServer(configuration, clock: clock.sessionClock) { server, address in
      try await AssetClient.with(address) { client in
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        try await Self.withSession(client, []) { session in
          clock.advance(by: .seconds(1000))
          let names = try await client.names()
          #expect(names == ["hat"])
          session.send(.select(Self.hat))
          let color = try await session.color()
          #expect(color == [0, 0, 255])
        }
        try await expectEventually("the session has ended") { server.sessionCount == 0 }
        clock.advance(by: .seconds(99))
        #expect(try await client.names() == ["hat"])
        // Only using the asset counts, not listing it.
        clock.advance(by: .seconds(1))
        #expect(server.assetContents.count == 0)
        #expect(try await client.names() == [])
        try await expectEventually("its memory is back") { server.assetContents.bytes == 0 }
      }
    }
  }

  @Test
  func `a session that resumes without its asset gets an error; with it the session continues`()
    async throws
  {
    let keys = [ResumeTests.key("a", 1)]
    let file = try AssetFiles.png(4, 4, AssetFiles.red)
    let token = try await withServer(ResumeTests.configuration(keys)) { _, address in
      try await AssetClient.with(address) { client in
        try await client.put("hat", file)
        let answers = try await client.stub.converse([.open(Self.hat), .frame(1, Self.gray)])
        return try #require(answers.applied.last?.resumeToken)
      }
    }
    try await withServer(ResumeTests.configuration(keys)) { _, address in
      try await AssetClient.with(address) { client in
        let error = await #expect(throws: RPCError.self) {
          try await client.stub.converse([ResumeTests.open(resuming: token)])
        }
        #expect(error?.code == .invalidArgument)
        let violations = try error?.unpackGoogleRPCStatus()?.details.compactMap(\.badRequest)
          .flatMap(\.violations)
        #expect(
          violations?.map(\.field)
            == ["open.resume_token.pipeline.stages[0].filter.parameters[\"asset\"]"])
        #expect(violations?.first?.violationDescription.contains("no asset named \"hat\"") == true)
        try await client.put("hat", file)
        let frames = try await client.stub.converse([
          ResumeTests.open(resuming: token), .frame(1, Self.gray),
        ]).frames
        #expect(frames.map { Self.color($0.image) } == [[0, 0, 255]])
      }
    }
  }

  @Test
  func `GetServerInfo reports the feature, the limits and the counts of assets`() async throws {
    let registry = PrometheusRegistry(descriptions: SidelightServer.metricDescriptions)
    try await withServer(metrics: registry) { server, address in
      try await AssetClient.with(address) { client in
        let put = try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        let info = try await client.stub.getServerInfo(.init())
        #expect(info.features.contains("assets"))
        #expect(info.assetLimits.maxAssetsPerCaller == 32)
        #expect(info.assetLimits.lifetime.seconds == 600)
        #expect(info.load.assets == 1 && info.load.assetBytes == put.asset.memoryBytes)
        server.updateMetrics()
        let bytes = "sidelight_asset_bytes{state="
        #expect(MetricsTests.value("sidelight_assets", in: registry) == 1)
        #expect(
          MetricsTests.value("\(bytes)\"decoded\"}", in: registry) == Double(put.asset.memoryBytes))
        #expect(MetricsTests.value("\(bytes)\"upload\"}", in: registry) == 0)
      }
    }
  }

  @Test
  func `the client library uploads, lists and deletes assets, and reports errors`() async throws {
    try await withServer { _, address in
      try await SidelightClient.connect(to: address) { client in
        // Long enough for many chunks.
        let file = try AssetFiles.png(4, 4, AssetFiles.red)
        let table =
          Array(
            ("# " + String(repeating: "x", count: 1 << 20) + "\n").utf8) + AssetFiles.negative
        let hat = try await client.putAsset(named: "hat", contents: file)
        #expect(hat.contents == .image(FrameSize(width: 4, height: 4)))
        #expect(!hat.isProvidedByServer && hat.fileByteCount == file.count)
        let look = try await client.putAsset(named: "look", contents: table)
        #expect(look.contents == .curves(entries: 2))
        #expect(try await client.listAssets() == [hat, look])
        try await client.deleteAsset(named: "hat")
        #expect(try await client.listAssets().map(\.name) == ["look"])
        let deletion = try await AssetRefusal.of { try await client.deleteAsset(named: "hat") }
        #expect(deletion.code == .notFound)
        // Refused at the header, while chunks are still being written.
        let long = try await AssetRefusal.of {
          try await client.putAsset(named: "", contents: [UInt8](repeating: 0, count: 16 << 20))
        }
        #expect(long.reason == "ASSET_NAME_INVALID")
        let digest = try await AssetRefusal.of {
          try await client.putAsset(
            named: "hat", contents: file, sha256: [UInt8](repeating: 1, count: 32))
        }
        #expect(digest.reason == "ASSET_DIGEST_MISMATCH" && digest.code == .invalidArgument)
      }
    }
  }
}
