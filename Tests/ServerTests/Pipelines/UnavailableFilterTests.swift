import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// A server whose catalogue describes a filter that it cannot run.
@Suite(.timeLimit(.minutes(5))) struct UnavailableFilterTests {
  static let catalogue: FilterCatalogue = {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(
      unavailable: FilterDescription(
        name: "aura", summary: "Shows auras.", category: .effect, reach: .frame,
        fidelity: .custom, formula: "unknown"),
      reason: "this server has no medium")
    return catalogue
  }()

  static let reason =
    "stages[0].filter.name: the filter \"aura\" is not available: this server has no medium"

  /// Runs a call, which fails with FAILED_PRECONDITION and the reason.
  private func expectRefusal(
    _ text: String, _ call: @escaping @Sendable (Stub) async throws -> Void
  ) async throws {
    try await withServer(catalogue: Self.catalogue) { _, address in
      try await withStub(address) { stub in
        let error = await #expect(throws: RPCError.self) { try await call(stub) }
        #expect(error?.code == .failedPrecondition)
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
      }
    }
  }

  @Test
  func `sessions, still images and checks that name it are refused with the reason`() async throws {
    let pipeline = Sidelight_V1_Pipeline([.filter("aura")])
    try await self.expectRefusal(Self.reason) { stub in
      try await stub.process { writer in
        try await writer.write(.open([.filter("aura")]))
      } onResponse: { response in
        for try await _ in response.messages {}
      }
    }
    try await self.expectRefusal(Self.reason) { stub in
      _ = try await stub.apply(
        .with {
          $0.pipeline = pipeline
          $0.image = .noise(.gray8, 8, 8)
        })
    }
    try await self.expectRefusal(Self.reason) { stub in
      _ = try await stub.checkPipeline(.with { $0.pipeline = pipeline })
    }
    try await self.expectRefusal("this server has no medium") { stub in
      _ = try await stub.checkPipeline(.with { $0.text = "aura" })
    }
  }

  @Test func `a selection that names it is refused, and the session continues`() async throws {
    let answers = try await withServer(catalogue: Self.catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open([.filter("colorInvert")]), .select([.filter("aura")], requestID: 7),
          .frame(1, .noise(.gray8, 8, 8)),
        ])
      }
    }
    let error = try #require(answers.errors.first)
    #expect(error.requestID == 7)
    #expect(error.status.code == Int32(RPCError.Code.failedPrecondition.rawValue))
    #expect(error.status.message == "select.pipeline.\(Self.reason)")
    #expect(answers.frames.first?.disposition == .filtered)
  }

  @Test func `it is not listed, and has no description`() async throws {
    try await withServer(catalogue: Self.catalogue) { _, address in
      try await withStub(address) { stub in
        let names = try await stub.listFilters(.init()).filters.map(\.name)
        #expect(names == FilterCatalogue.builtIn.descriptions.map(\.name))
        let error = await #expect(throws: RPCError.self) {
          _ = try await stub.describeFilter(.with { $0.name = "aura" })
        }
        #expect(error?.code == .notFound)
      }
    }
  }
}
