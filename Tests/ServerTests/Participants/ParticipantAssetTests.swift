import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The assets of a caller's participants.
@Suite(.timeLimit(.minutes(5))) struct ParticipantAssetTests {
  /// Filters a gray picture with the asset `hat`, in a session and as a still image.
  ///
  /// - Returns: The colour, if both agree.
  static func color(_ client: AssetClient, _ participant: String) async throws -> [UInt8] {
    let frames = try await client.stub.converse([
      .open(AssetTests.hat) { $0.participant = participant }, .frame(1, AssetTests.gray),
    ]).frames
    let still = try await client.stub.apply(
      .with {
        $0.image = AssetTests.gray
        $0.pipeline = Sidelight_V1_Pipeline(AssetTests.hat)
        $0.participant = participant
      })
    let color = AssetTests.color(still.image)
    #expect(frames.map { AssetTests.color($0.image) } == [color])
    return color
  }

  @Test func `participants use the same name for different assets`() async throws {
    try await withServer { server, address in
      try await AssetClient.with(address) { client in
        let files = try [AssetFiles.red, AssetFiles.blue].map { color throws in
          try AssetFiles.png(4, 4, color)
        }
        for (name, file) in zip(["ana", "ben"], files) {
          let put = try await client.put("hat", file, participant: name)
          #expect(put.asset.origin == .participant && !put.replaced)
        }
        let colors = try await ["ana", "ben"].mapInTurn { try await Self.color(client, $0) }
        #expect(colors == [[0, 0, 255], [255, 0, 0]])
        for name in ["", "carol"] {
          let names = try await client.names(participant: name)
          #expect(names.isEmpty)
          let error = try await PermissionTests.refusal { try await Self.color(client, name) }
          #expect(error.code == .invalidArgument)
          #expect(error.message.contains("there is no asset named \"hat\""))
        }
        let refusal = try await AssetRefusal.of {
          try await client.delete("hat", participant: "carol")
        }
        #expect(refusal.reason == "ASSET_NOT_FOUND")
        try await client.delete("hat", participant: "ana")
        let left = try await ["ana", "ben"].mapInTurn { try await client.names(participant: $0) }
        #expect(left == [[], ["hat"]])
        #expect(server.assetContents.count == 1)
      }
    }
  }

  @Test func `a participant uses the assets of its caller and of the server too`() async throws {
    var catalogue = FilterCatalogue.builtIn
    let provided = try CubeAsset.negative
    catalogue.assets = AssetStore(["look": provided])
    try await withServer(catalogue: catalogue) { _, address in
      try await AssetClient.with(address) { client in
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.red))
        try await client.put("scarf", AssetFiles.png(4, 4, AssetFiles.red))
        let ofCaller = try await Self.color(client, "ana")
        #expect(ofCaller == [0, 0, 255])
        // The participant's own asset hides the caller's asset, for this participant only.
        try await client.put("hat", AssetFiles.png(4, 4, AssetFiles.blue), participant: "ana")
        let colors = try await ["ana", "ben", ""].mapInTurn { try await Self.color(client, $0) }
        #expect(colors == [[255, 0, 0], [0, 0, 255], [0, 0, 255]])
        let listed = try await client.assets.listAssets(.with { $0.participant = "ana" }).assets
        #expect(listed.map(\.name) == ["hat", "look", "scarf"])
        #expect(listed.map(\.origin) == [.participant, .server, .caller])
        let taken = try await AssetRefusal.of {
          try await client.put("look", AssetFiles.negative, participant: "ana")
        }
        #expect(taken.reason == "ASSET_NAME_TAKEN")
      }
    }
  }

  @Test func `assets of participants count in the limits of their caller`() async throws {
    var configuration = ServerConfiguration()
    configuration.assets.maxAssetsPerCaller = 2
    try await withServer(configuration) { _, address in
      try await AssetClient.with(address) { client in
        try await client.put("a", AssetFiles.negative, participant: "ana")
        try await client.put("a", AssetFiles.negative, participant: "ben")
        for participant in ["carol", ""] {
          let refusal = try await AssetRefusal.of {
            try await client.put("a", AssetFiles.negative, participant: participant)
          }
          #expect(refusal.code == .resourceExhausted)
          #expect(refusal.field == "max_assets_per_caller" && refusal.value == "3")
          #expect(refusal.violations == ["ipv4:127.0.0.1"])
        }
        try await client.put("a", AssetFiles.negative, participant: "ana")
        try await client.delete("a", participant: "ana")
        try await client.put("a", AssetFiles.negative)
      }
    }
  }

  @Test func `assets of a participant are kept during its sessions`() async throws {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { server, address in
      try await AssetClient.with(address) { client in
        for participant in ["ana", "ben", ""] {
          try await client.put("a", AssetFiles.negative, participant: participant)
        }
        let open = ParticipantTests.open("ana")
        try await SessionListTests.withSessions([open], client.stub) { _ in
          clock.advance(by: .seconds(601))
          // The participant's session belongs to its caller.
          let names = try await ["ana", "ben", ""].mapInTurn {
            try await client.names(participant: $0)
          }
          #expect(names == [["a"], ["a"], ["a"]], "ben sees the caller's")
          #expect(server.assetContents.count == 2)
        }
        clock.advance(by: .seconds(601))
        try await expectEventually("nothing is kept") { server.assetContents.count == 0 }
      }
    }
  }
}

/// Assets that the server provides.
enum CubeAsset {
  static var negative: Asset {
    get throws { .cube(try CubeFile.read(AssetFiles.negative)) }
  }
}
