import Foundation
import GRPCCore
import Logging
import ServiceLifecycleTestKit
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing
import Tracing

/// Refused uploads, which have a reason and a field, and release their memory. Tests in Python
/// cover invalid pictures, because they can produce more kinds of them.
@Suite(.timeLimit(.minutes(5))) struct AssetRefusalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var messages: [Sidelight_V1_PutAssetRequest]
    var code: RPCError.Code
    var reason: String
    var field: String
  }

  static let cases: [Case] = {
    let file = AssetFiles.negative
    let header = Sidelight_V1_PutAssetRequest.header("x", file.count)
    var cases = [
      Case(
        testDescription: "nothing at all", messages: [], code: .failedPrecondition,
        reason: "ASSET_UPLOAD_ORDER", field: "header"),
      Case(
        testDescription: "a chunk before the header", messages: [.chunk(file), header],
        code: .failedPrecondition, reason: "ASSET_UPLOAD_ORDER", field: "header"),
      Case(
        testDescription: "two headers", messages: [header, header], code: .failedPrecondition,
        reason: "ASSET_UPLOAD_ORDER", field: "header"),
      Case(
        testDescription: "a message of neither kind", messages: [header, .init()],
        code: .failedPrecondition, reason: "ASSET_UPLOAD_ORDER", field: "part"),
      Case(
        testDescription: "an empty chunk", messages: [header, .chunk([])],
        code: .failedPrecondition, reason: "ASSET_UPLOAD_ORDER", field: "chunk"),
      Case(
        testDescription: "too little", messages: [header, .chunk([1])], code: .invalidArgument,
        reason: "ASSET_LENGTH_MISMATCH", field: "header.size_bytes"),
      Case(
        testDescription: "too much", messages: [header, .chunk(file), .chunk([1])],
        code: .invalidArgument, reason: "ASSET_LENGTH_MISMATCH", field: "header.size_bytes"),
      Case(
        testDescription: "an empty file", messages: [.header("x", 0)], code: .invalidArgument,
        reason: "ASSET_LENGTH_MISMATCH", field: "header.size_bytes"),
      Case(
        testDescription: "a file over the limit", messages: [.header("x", (16 << 20) + 1)],
        code: .invalidArgument, reason: "ASSET_TOO_LARGE", field: "header.size_bytes"),
      Case(
        testDescription: "a size of 2^64 - 1",
        messages: [.with { $0.header = .with { ($0.name, $0.sizeBytes) = ("x", .max) } }],
        code: .invalidArgument, reason: "ASSET_TOO_LARGE", field: "header.size_bytes"),
      Case(
        testDescription: "a digest of 31 bytes",
        messages: [.header("x", file.count, sha256: Data(count: 31))], code: .invalidArgument,
        reason: "ASSET_DIGEST_MISMATCH", field: "header.sha256"),
      Case(
        testDescription: "another file's digest",
        messages: [.header("x", file.count, sha256: Data(count: 32)), .chunk(file)],
        code: .invalidArgument, reason: "ASSET_DIGEST_MISMATCH", field: "header.sha256"),
      Case(
        testDescription: "more chunks than may be",
        messages: [.header("x", 10_000)] + Array(repeating: .chunk([35]), count: 8193),
        code: .invalidArgument, reason: "ASSET_TOO_LARGE", field: "chunk"),
    ]
    let names = [
      "", "source", ".hidden", "-x", "/etc", "a b", "a\u{0}b", "h\u{e4}t", "../../etc/passwd",
      String(repeating: "x", count: 65), String(repeating: "x", count: 100_000),
    ]
    for name in names {
      cases.append(
        Case(
          testDescription: "the name \"\(name.prefix(12))\" of \(name.utf8.count) bytes",
          messages: [.header(name, file.count), .chunk(file)], code: .invalidArgument,
          reason: "ASSET_NAME_INVALID", field: "header.name"))
    }
    return cases
  }()

  @Test(arguments: cases)
  func `an invalid upload is refused, and all of its memory is released`(_ example: Case)
    async throws
  {
    try await withServer { server, address in
      try await AssetClient.with(address) { client in
        let refusal = try await AssetRefusal.of { try await client.send(example.messages) }
        #expect(refusal.code == example.code)
        #expect(refusal.reason == example.reason)
        #expect(refusal.field == example.field)
        #expect(refusal.violations == [example.field])
        #expect(try await client.names() == [])
        try await expectEventually("nothing is held") { server.assetContents == (0, 0, 0) }
      }
    }
  }

  /// Tables with one fault: the text, and words of the message.
  static let tables: [(text: String, words: String)] = [
    ("TITLE \"x\"\n", "neither LUT_1D_SIZE nor LUT_3D_SIZE"),
    ("LUT_3D_SIZE 1\n0 0 0\n", "range is 2 ... 129"),
    ("LUT_3D_SIZE 130\n", "range is 2 ... 129"),
    ("LUT_1D_SIZE 65537\n", "range is 2 ... 65536"),
    ("LUT_3D_SIZE -2\n", "range is 2 ... 129"),
    ("LUT_3D_SIZE 9223372036854775808\n", "range is 2 ... 129"),
    ("LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n", "line 2: a second size"),
    ("0 0 0\nLUT_1D_SIZE 2\n", "line 1: numbers before"),
    ("LUT_1D_SIZE 3\n0 0 0\n1 1 1\n", "2 entries; its size requires 3"),
    ("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1\n", "line 4: more than the 2 entries"),
    ("LUT_1D_SIZE 2\n0 0\n", "line 2: 2 numbers; there must be 3"),
    ("LUT_1D_SIZE 2\n0 nan 0\n", "is not a number between"),
    ("LUT_1D_SIZE 2\n0 inf 0\n", "is not a number between"),
    ("LUT_1D_SIZE 2\n0 1e38 0\n", "is not a number between"),
    ("LUT_1D_SIZE 2\nDOMAIN_MIN 1 1 1\n0 0 0\n1 1 1\n", "is not below"),
    ("LUT_1D_SIZE 2\nSHAPER 1\n", "SHAPER is not a keyword"),
    ("These are words.\n", "is not a keyword"),
    ("\u{0}\u{1}\u{2}", "neither PNG nor JPEG nor a font"),
  ]

  @Test(arguments: tables)
  func `an invalid table is refused with the line and the reason`(text: String, words: String)
    async throws
  {
    try await withServer { server, address in
      try await AssetClient.with(address) { client in
        let error = await #expect(throws: RPCError.self) {
          try await client.put("look", Array(text.utf8))
        }
        let refusal = try #require(AssetRefusal(error))
        #expect(refusal.code == .invalidArgument && refusal.reason == "ASSET_UNREADABLE")
        #expect(refusal.violations == ["chunk"])
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        try await expectEventually("nothing is held") { server.assetContents == (0, 0, 0) }
      }
    }
  }

  @Test
  func `the number and the memory of assets are limited for each caller and in total`() async throws
  {
    let folder = try SocketFolder()
    defer { folder.remove() }
    var configuration = ServerConfiguration()
    configuration.assets.maxAssetsPerCaller = 2
    configuration.assets.maxAssets = 3
    let picture = ImageAsset.maxByteCount(of: FrameSize(width: 32, height: 32))
    configuration.assets.maxMemoryBytesPerCaller = picture
    configuration.assets.maxMemoryBytes = picture + 48
    let addresses = [Address.tcp(host: "127.0.0.1", port: 0), .unix(path: folder.file())]
    try await withServer(configuration, listeningOn: addresses) { server, first in
      let second = try await server.listeningAddresses[1]
      let large = try AssetFiles.png(32, 32, AssetFiles.red)
      try await AssetClient.with(first) { alice in
        try await AssetClient.with(second) { bob in
          try await alice.put("hat", large)
          let memory = try await AssetRefusal.of { try await alice.put("b", AssetFiles.negative) }
          #expect(memory.code == .resourceExhausted)
          #expect(memory.field == "max_memory_bytes_per_caller")
          #expect(memory.limit == "\(picture)" && memory.value == "\(picture + 48)")
          #expect(memory.violations == ["ipv4:127.0.0.1"])
          let all = try await AssetRefusal.of { try await bob.put("hat", large) }
          #expect(all.field == "max_memory_bytes" && all.violations == ["server"])
          // A table of two entries has 48 bytes.
          try await bob.put("a", AssetFiles.negative)
          try await alice.delete("hat")
          try await expectEventually("its memory is back") { server.assetContents.bytes == 48 }
          try await alice.put("a", AssetFiles.negative)
          try await alice.put("b", AssetFiles.negative)
          let own = try await AssetRefusal.of { try await alice.put("c", AssetFiles.negative) }
          #expect(own.field == "max_assets_per_caller" && own.value == "3" && own.limit == "2")
          let total = try await AssetRefusal.of { try await bob.put("b", AssetFiles.negative) }
          #expect(total.field == "max_assets" && total.violations == ["server"])
          #expect(try await alice.put("b", AssetFiles.negative).replaced, "replacing needs no room")
        }
      }
    }
  }

  @Test func `a limit of 0 disables uploads`() async throws {
    var configuration = ServerConfiguration()
    configuration.assets.maxAssetsPerCaller = 0
    try await withServer(configuration) { _, address in
      try await AssetClient.with(address) { client in
        let refusal = try await AssetRefusal.of { try await client.put("a", AssetFiles.negative) }
        #expect(refusal.field == "max_assets_per_caller" && refusal.limit == "0")
      }
    }
  }

  @Test
  func `the lengths that headers state count against the limit of uploads in progress`()
    async throws
  {
    var configuration = ServerConfiguration()
    configuration.assets.maxUploadBytesPerCaller = 1000
    try await withServer(configuration) { server, address in
      try await AssetClient.with(address) { client in
        let (end, ended) = AsyncStream<Never>.makeStream()
        async let first = client.begin([.header("a", 900), .chunk([35])], until: end)
        try await expectEventually("the upload has begun") {
          server.assetContents.uploadBytes == 900
        }
        let refusal = try await AssetRefusal.of { try await client.send([.header("b", 200)]) }
        #expect(refusal.code == .resourceExhausted)
        #expect(refusal.field == "max_upload_bytes_per_caller" && refusal.value == "1100")
        ended.finish()
        #expect(AssetRefusal(await first)?.reason == "ASSET_LENGTH_MISMATCH")
        try await expectEventually("nothing is held") { server.assetContents == (0, 0, 0) }
      }
    }
  }

  @Test
  func `an upload that stalls ends after the timeout, and its memory is released`() async throws {
    let clock = ManualClock()
    var configuration = ServerConfiguration()
    configuration.assets.uploadTimeout = .seconds(7)
    try await withServer(configuration, clock: clock.sessionClock) { server, address in
      try await AssetClient.with(address) { client in
        let (end, ended) = AsyncStream<Never>.makeStream()
        async let upload = client.begin([.header("a", 900), .chunk([35])], until: end)
        try await expectEventually("the upload has begun") {
          server.assetContents.uploadBytes == 900
        }
        await clock.awaited(within: .seconds(7))
        clock.advance(by: .seconds(7))
        let error = await upload
        let refusal = try #require(AssetRefusal(error), "\(String(describing: error))")
        #expect(refusal.code == .deadlineExceeded && refusal.reason == "ASSET_UPLOAD_TIMEOUT")
        try await expectEventually("nothing is held") { server.assetContents == (0, 0, 0) }
        ended.finish()
      }
    }
  }

  @Test func `the memory of an upload is released when the caller disconnects`() async throws {
    try await withServer { server, address in
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          _ = try? await AssetClient.with(address) { client in
            let (end, _) = AsyncStream<Never>.makeStream()
            _ = await client.begin([.header("a", 9000), .chunk([35])], until: end)
          }
        }
        try? await expectEventually("the upload has begun") {
          server.assetContents.uploadBytes == 9000
        }
        group.cancelAll()
      }
      try await expectEventually("nothing is held") { server.assetContents == (0, 0, 0) }
    }
  }

  @Test func `a shutdown ends uploads with UNAVAILABLE`() async throws {
    let running = RunningServer()
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await running.run() }
      let address = try await running.address
      try await AssetClient.with(address) { client in
        let (end, ended) = AsyncStream<Never>.makeStream()
        async let upload = client.begin([.header("a", 900), .chunk([35])], until: end)
        try await expectEventually("the upload has begun") {
          running.server.assetContents.uploadBytes == 900
        }
        running.drain()
        let error = await upload
        #expect((error as? RPCError)?.code == .unavailable, "\(String(describing: error))")
        ended.finish()
      }
      await running.kill()
    }
  }

  /// A server with one thread that filters, for as long as `body` runs; the gate can hold it.
  static func withOneThread(
    _ gate: Gate,
    _ body: @Sendable (SidelightServer, Address) async throws -> Void
  ) async throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    // The clock does not advance, so the filter is never taken for stuck.
    try await withServer(
      configuration, catalogue: catalogue, clock: ManualClock().sessionClock, body)
  }

  @Test
  func `decoding waits for a turn on the compute threads, and blocks no other call`() async throws {
    let gate = Gate()
    try await Self.withOneThread(gate) { server, address in
      try await AssetClient.with(address) { client in
        async let session = client.stub.converse([
          .open([.filter("gate")]), .frame(1, AssetTests.gray),
        ])
        var entered = gate.entered.makeAsyncIterator()
        await entered.next()
        async let put = client.put("look", AssetFiles.negative)
        try await expectEventually("the file has come") {
          server.assetContents.uploadBytes == AssetFiles.negative.count
        }
        // The only thread that filters is taken; calls are answered all the same.
        for _ in 0 ..< 20 { #expect(try await client.names() == []) }
        #expect(server.assetContents.bytes == 0)
        gate.open(for: 1)
        let name = try await put.asset.name
        #expect(name == "look")
        let frames = try await session.frames
        #expect(frames.count == 1)
      }
    }
  }

  @Test
  func `the memory of a file that waits to be decoded is released when the caller disconnects`()
    async throws
  {
    let gate = Gate()
    try await Self.withOneThread(gate) { server, address in
      try await AssetClient.with(address) { client in
        async let session = client.stub.converse([
          .open([.filter("gate")]), .frame(1, AssetTests.gray),
        ])
        var entered = gate.entered.makeAsyncIterator()
        await entered.next()
        await withTaskGroup(of: Void.self) { group in
          group.addTask { _ = try? await client.put("look", AssetFiles.negative) }
          try? await expectEventually("the file has come") {
            server.assetContents.uploadBytes == AssetFiles.negative.count
          }
          group.cancelAll()
        }
        try await expectEventually("nothing is held") { server.assetContents == (0, 0, 0) }
        gate.open(for: 1)
        let frames = try await session.frames
        #expect(frames.count == 1)
        #expect(try await client.names() == [])
      }
    }
  }
}
