import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Lists of sessions: pages, labels, tokens, and how large they become.
@Suite(.timeLimit(.minutes(5))) struct SessionListTests {
  /// Opens sessions sequentially, and keeps them open while `body` runs.
  ///
  /// - Parameter body: Gets the sessions' ids, in the order in which they were opened.
  static func withSessions(
    _ opens: ArraySlice<Sidelight_V1_ClientMessage>, _ stub: Stub, ids: [String] = [],
    _ body: @escaping @Sendable ([String]) async throws -> Void
  ) async throws {
    guard let open = opens.first else { return try await body(ids) }
    try await stub.whileOpen(open) { opened in
      try await Self.withSessions(opens.dropFirst(), stub, ids: ids + [opened.sessionID], body)
    }
  }

  static func withSessions(
    labels: [String],
    _ body: @escaping @Sendable (Operators, [String]) async throws -> Void
  ) async throws {
    try await Self.withSessions(labels.map { label in .open { $0.label = label } }, body)
  }

  static func withSessions(
    _ opens: [Sidelight_V1_ClientMessage],
    _ body: @escaping @Sendable (Operators, [String]) async throws -> Void
  ) async throws {
    try await withServer { _, address in
      try await withOperators(address) { operators in
        try await withStub(address) { stub in
          try await Self.withSessions(opens[...], stub) { try await body(operators, $0) }
        }
      }
    }
  }

  static func list(
    _ operators: Operators, size: UInt32 = 0, token: String = "", label: String = ""
  ) async throws -> Sidelight_V1_ListSessionsResponse {
    try await operators.listSessions(
      .with {
        $0.pageSize = size
        $0.pageToken = token
        $0.label = label
      })
  }

  /// The ids by page, up to the last.
  static func pages(
    _ operators: Operators, size: UInt32, label: String = ""
  ) async throws -> [[String]] {
    var pages: [[String]] = []
    var token = ""
    repeat {
      let page = try await Self.list(operators, size: size, token: token, label: label)
      pages.append(page.sessions.map(\.sessionID))
      token = page.nextPageToken
    } while !token.isEmpty
    return pages
  }

  @Test func `the pages contain every session once, the oldest first`() async throws {
    try await Self.withSessions(labels: ["a", "b", "a", "", "a"]) { operators, ids in
      let pairs = try await Self.pages(operators, size: 2)
      #expect(pairs == [Array(ids[0 ..< 2]), Array(ids[2 ..< 4]), Array(ids[4...])])
      // A full last page doesn't have a token.
      for size: UInt32 in [5, 0, 1000] {
        let whole = try await Self.pages(operators, size: size)
        #expect(whole == [ids])
      }
    }
  }

  @Test func `a label lists exactly the sessions with that label, page by page`() async throws {
    try await Self.withSessions(labels: ["a", "b", "a", "ab", "a"]) { operators, ids in
      let expected = [[ids[0], ids[2]], [ids[4]]]
      let found = try await Self.pages(operators, size: 2, label: "a")
      #expect(found == expected)
      let none = try await Self.pages(operators, size: 2, label: "nobody")
      #expect(none == [[]])
    }
  }

  @Test
  func `a page token of another label, or any other text, is refused with the field`() async throws
  {
    try await Self.withSessions(labels: ["a", "a"]) { operators, _ in
      let token = try await Self.list(operators, size: 1, label: "a").nextPageToken
      #expect(!token.isEmpty)
      let same = try await Self.list(operators, size: 1, token: token, label: "a")
      #expect(same.sessions.count == 1)
      var forged = Array(token.utf8)
      forged[15] ^= 1
      for (text, label) in [
        (token, ""), (token, "b"), ("2", "a"), (String(decoding: forged, as: UTF8.self), "a"),
        (String(repeating: "0", count: 32), "a"), (token.uppercased() + " ", "a"),
        (String(repeating: "f", count: 500_000), "a"),
      ] {
        let error = await #expect(throws: RPCError.self) {
          try await Self.list(operators, size: 1, token: text, label: label)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.hasPrefix("page_token: is not the next_page_token") == true)
      }
    }
  }

  @Test func `a page size beyond the limit is refused with the limit`() async throws {
    try await Self.withSessions(labels: []) { operators, _ in
      let error = await #expect(throws: RPCError.self) {
        try await Self.list(operators, size: 1001)
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message == "page_size: is 1001; the limit is 1000")
    }
  }

  @Test func `the pipeline of a session is listed up to 2048 bytes`() async throws {
    let weights = ParameterValue.vector(Array(repeating: 0.0123456789, count: 25))
    let pipeline = Pipeline(
      stages: (0 ..< 40).map { _ in .filter("convolution5X5", ["weights": weights]) })
    #expect(pipeline.text.utf8.count > 10_000)
    try await Self.withSessions([.open(pipeline)]) { operators, _ in
      let listed = try await Self.list(operators)
      let info = try #require(listed.sessions.first)
      #expect(info.pipeline.utf8.count == 2048)
      #expect(info.pipeline.hasSuffix("..."))
      #expect(pipeline.text.hasPrefix(info.pipeline.dropLast(3)))
    }
  }

  @Test()
  func
    `a snapshot of many sessions has several messages, and all but the last state that it continues`()
  {
    let sessions = (0 ..< 5).map { number in
      Sidelight_V1_SessionInfo.with { $0.sessionID = "\(number)" }
    }
    for (count, sizes) in [(0, [0]), (1, [1]), (2, [2]), (3, [2, 1]), (5, [2, 2, 1])] {
      let messages = Sidelight_V1_WatchSessionsResponse.snapshot(
        of: Array(sessions.prefix(count)), pageSize: 2)
      #expect(messages.map(\.sessions.count) == sizes)
      #expect(messages.flatMap(\.sessions) == Array(sessions.prefix(count)))
      #expect(messages.map(\.continues) == sizes.indices.map { $0 < sizes.count - 1 })
    }
  }
}
