import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of analyses of frames that come as files, which have to be decoded first.
@Suite(.timeLimit(.minutes(5))) struct JPEGAnalysisTests {
  /// Sends files individually, and counts the buffers that were needed for them.
  private static func buffers(_ pipeline: Pipeline) async throws -> Int {
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    return try await withServer(
      catalogue: AnalysisTests.catalogue(AnalysisTests.RecordingAnalysis())
    ) { server, address in
      try await withStub(address) { stub in
        let answers = try await stub.converseInTurn(
          .open(pipeline), (1 ... 5).map { .frame($0, image) })
        #expect(answers.frames.map(\.sequence) == Array(1 ... 5))
        #expect(pipeline.stages.count == 1 || !answers.analyses.isEmpty)
        let statistics = server.poolStatistics
        return statistics.hits + statistics.misses
      }
    }
  }

  @Test func `a filter and an analysis share one decoded file`() async throws {
    let alone = try await Self.buffers([.filter("sepiaTone")])
    #expect(try await Self.buffers([.filter("sepiaTone"), .filter("witness")]) == alone)
  }

  @Test func `an analysis does not wait for a file that never reaches the worker`() async throws {
    let gate = Gate()
    var catalogue = AnalysisTests.catalogue(AnalysisTests.RecordingAnalysis())
    catalogue.register(gate.filter)
    let image = try Sidelight_V1_Image.jpeg(64, 48)
    let answers = try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          try await writer.write(
            .open([.filter("gate"), .filter("witness")], policy: .newestWins))
          try await writer.write(.frame(1, image))
          for await _ in gate.entered { break }
          // The worker holds the first; the third displaces the second.
          try await writer.write(.frame(2, image))
          try await writer.write(.frame(3, image))
          try await writer.write(.with { $0.ping.id = 1 })
          for await _ in pongs { break }
          gate.open(for: 2)
        }
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 3])
    #expect(answers.drops.map(\.firstSequence) == [2])
    #expect(answers.analyses.map(\.sequence).contains(3))
  }

  @Test func `a file that cannot be decoded is reported once, and not analysed`() async throws {
    let whole = try Sidelight_V1_Image.jpeg(64, 48)
    let cut = Sidelight_V1_Image.jpeg([UInt8](whole.inline.dropLast(20)))
    let answers = try await withServer(
      catalogue: AnalysisTests.catalogue(AnalysisTests.RecordingAnalysis())
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("sepiaTone"), .filter("witness")]), [.frame(1, cut), .frame(2, whole)])
      }
    }
    #expect(answers.drops.map(\.reason) == [.invalidFrame])
    #expect(answers.frames.map(\.sequence) == [2])
    #expect(!answers.analyses.map(\.sequence).contains(1))
    #expect(answers.errors.isEmpty)
  }
}
