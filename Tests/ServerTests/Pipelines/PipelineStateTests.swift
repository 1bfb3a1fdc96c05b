import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightWire
import Testing

/// All transitions of the state that decides a session's pipeline.
@Suite struct PipelineStateTests {
  static func state(_ pipeline: Pipeline = [.filter("sepiaTone")]) throws -> PipelineState {
    try PipelineState(pipeline: pipeline, catalogue: .builtIn)
  }

  static func select(_ pipeline: Pipeline, _ pipelineState: inout PipelineState, requestID: UInt64)
    throws
  {
    try pipelineState.change(ifRevision: nil, requestID: requestID) { $0 = pipeline }
  }

  @Test func `a change increments the revision and keeps the request's number`() throws {
    var pipelineState = try Self.state()
    #expect(pipelineState.activePipeline.revision == Revision(number: 1, requestID: 0))
    try Self.select([.filter("grayscale")], &pipelineState, requestID: 7)
    #expect(pipelineState.activePipeline.revision == Revision(number: 2, requestID: 7))
    #expect(pipelineState.activePipeline.pipeline.activeFilters == ["grayscale"])
  }

  @Test func `a refused change has no effect`() throws {
    var pipelineState = try Self.state()
    let unknown = #expect(throws: FieldViolation.self) {
      try Self.select([.filter("nope")], &pipelineState, requestID: 7)
    }
    #expect(unknown?.field == "pipeline.stages[0].filter.name")
    let stale = #expect(throws: FieldViolation.self) {
      try pipelineState.change(ifRevision: 5, requestID: 8) { $0 = [] }
    }
    #expect(stale?.code == .aborted)
    #expect(pipelineState.activePipeline.revision == Revision(number: 1, requestID: 0))
    #expect(pipelineState.activePipeline.pipeline.activeFilters == ["sepiaTone"])
  }

  @Test func `changes of the participant during an override apply after it`() throws {
    var pipelineState = try Self.state()
    try pipelineState.override(with: [.filter("gaussianBlur")], reason: "test", until: .seconds(10))
    #expect(pipelineState.activePipeline.revision == Revision(number: 2, requestID: 0))
    #expect(pipelineState.activePipeline.isOverride)
    try Self.select([.filter("grayscale")], &pipelineState, requestID: 9)
    #expect(pipelineState.activePipeline.pipeline.activeFilters == ["gaussianBlur"])
    #expect(pipelineState.activePipeline.revision == Revision(number: 3, requestID: 0))
    let stale = #expect(throws: FieldViolation.self) {
      try pipelineState.change(ifRevision: 2, requestID: 10) { $0 = [] }
    }
    #expect(stale?.code == .aborted)
    let early = pipelineState.expire(at: .seconds(9.9))
    #expect(!early)
    let late = pipelineState.expire(at: .seconds(10))
    #expect(late)
    #expect(pipelineState.activePipeline.pipeline.activeFilters == ["grayscale"])
    #expect(pipelineState.activePipeline.revision == Revision(number: 4, requestID: 9))
    #expect(!pipelineState.activePipeline.isOverride)
    let again = pipelineState.endOverride()
    #expect(!again)
    #expect(pipelineState.revision == 4)
  }

  @Test func `a second override replaces the first and its end time`() throws {
    var pipelineState = try Self.state()
    try pipelineState.override(with: [.filter("gaussianBlur")], reason: "a", until: .seconds(10))
    try pipelineState.override(with: [.filter("pixellate")], reason: "b", until: .seconds(20))
    let first = pipelineState.expire(at: .seconds(15))
    #expect(!first)
    #expect(pipelineState.activePipeline.pipeline.activeFilters == ["pixellate"])
    #expect(throws: PipelineError.self) {
      try pipelineState.override(with: [.filter("nope")], reason: "c", until: .seconds(30))
    }
    #expect(pipelineState.override?.reason == "b")
  }

  @Test func `an override gives way to the next when it expires, unless that is invalid`() throws {
    var pipelineState = try Self.state()
    try pipelineState.override(with: [.filter("gaussianBlur")], reason: "a", until: .seconds(10))
    func expire(at seconds: Int, next filter: String) -> Bool {
      pipelineState.expire(at: .seconds(seconds)) {
        .forced([.filter(filter)], reason: filter, until: .seconds(seconds + 10))
      }
    }
    #expect(!expire(at: 9, next: "pixellate"))
    #expect(expire(at: 10, next: "pixellate"))
    #expect(pipelineState.override?.reason == "pixellate")
    // A session must not run without the override that counts.
    #expect(expire(at: 20, next: "nope"))
    #expect(pipelineState.activePipeline.pipeline.activeFilters == ["pixellate"])
    #expect(pipelineState.override?.end == .seconds(30))
    let last = pipelineState.expire(at: .seconds(30))
    #expect(last && pipelineState.override == nil)
  }

  @Test func `a pause reports whether it changed anything`() throws {
    var pipelineState = try Self.state()
    for (pause, isChange) in [
      (.dropping, true), (.dropping, false), (.passing, true), (.running, true), (.running, false),
    ] as [(PipelineState.Pause, Bool)] {
      let changed = pipelineState.setPause(pause)
      #expect(changed == isChange)
      #expect(pipelineState.pause == pause)
    }
    #expect(pipelineState.revision == 1, "a pause is no revision")
  }

  @Test func `a token restores selection, parameters, activation, pause and override`() throws {
    var pipelineState = try Self.state([
      Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
      Stage(.filter(FilterCall(name: "pixellate")), id: "blocks"),
    ])
    try pipelineState.change(ifRevision: nil, requestID: 1) { pipeline throws(FieldViolation) in
      do throws(PipelineError) {
        try pipeline.setParameters(["intensity": .number(0.25)], stage: "warm")
        try pipeline.setActive(false, stage: "blocks")
      } catch { throw FieldViolation(error) }
    }
    _ = pipelineState.setPause(.passing)
    try pipelineState.override(with: [.filter("gaussianBlur")], reason: "why", until: .seconds(50))
    let state = pipelineState.resumeState(
      of: SessionLineage(), at: .seconds(20), wallNow: 1_000_000_000, lifetime: .seconds(60))
    #expect(state.expiresNs == 61_000_000_000)
    var restored = try PipelineState(
      resuming: state, at: .seconds(500), wallNow: 11_000_000_000, catalogue: .builtIn)
    #expect(restored.pipeline == pipelineState.pipeline)
    #expect(restored.pause == .passing)
    #expect(restored.activePipeline.isOverride)
    #expect(restored.revision > pipelineState.revision)
    // Thirty seconds were left, ten have passed since.
    let early = restored.expire(at: .seconds(519.9))
    #expect(!early)
    let late = restored.expire(at: .seconds(520))
    #expect(late)
    let after = try PipelineState(
      resuming: state, at: .zero, wallNow: 31_000_000_000, catalogue: .builtIn)
    #expect(after.override == nil)
    #expect(after.revision > state.revision, "the number was the override's")
  }
}
