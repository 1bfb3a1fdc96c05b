import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightWire
import Testing

/// Each transition of what decides a session's pipeline.
@Suite struct SelectionDeskTests {
  static func desk(_ pipeline: Pipeline = [.filter("sepiaTone")]) throws -> SelectionDesk {
    try SelectionDesk(pipeline: pipeline, catalogue: .builtIn)
  }

  static func select(_ pipeline: Pipeline, _ desk: inout SelectionDesk, requestID: UInt64) throws {
    try desk.change(ifRevision: nil, requestID: requestID) { $0 = pipeline }
  }

  @Test("A change counts the revision up and carries its request")
  func change() throws {
    var desk = try Self.desk()
    #expect(desk.selection().revision == Revision(number: 1, requestID: 0))
    try Self.select([.filter("grayscale")], &desk, requestID: 7)
    #expect(desk.selection().revision == Revision(number: 2, requestID: 7))
    #expect(desk.selection().pipeline.activeFilters == ["grayscale"])
  }

  @Test("A change that is refused leaves everything as it was")
  func refused() throws {
    var desk = try Self.desk()
    let unknown = #expect(throws: FieldFault.self) {
      try Self.select([.filter("nope")], &desk, requestID: 7)
    }
    #expect(unknown?.field == "pipeline.stages[0].filter.name")
    let stale = #expect(throws: FieldFault.self) {
      try desk.change(ifRevision: 5, requestID: 8) { $0 = [] }
    }
    #expect(stale?.code == .aborted)
    #expect(desk.selection().revision == Revision(number: 1, requestID: 0))
    #expect(desk.selection().pipeline.activeFilters == ["sepiaTone"])
  }

  @Test("Under an override the participant's changes wait, and are in force when it ends")
  func override() throws {
    var desk = try Self.desk()
    try desk.override(with: [.filter("gaussianBlur")], reason: "test", until: .seconds(10))
    #expect(desk.selection().revision == Revision(number: 2, requestID: 0))
    #expect(desk.selection().isOverride)
    try Self.select([.filter("grayscale")], &desk, requestID: 9)
    #expect(desk.selection().pipeline.activeFilters == ["gaussianBlur"])
    #expect(desk.selection().revision == Revision(number: 3, requestID: 0))
    let stale = #expect(throws: FieldFault.self) {
      try desk.change(ifRevision: 2, requestID: 10) { $0 = [] }
    }
    #expect(stale?.code == .aborted)
    let early = desk.expire(at: .seconds(9.9))
    #expect(!early)
    let late = desk.expire(at: .seconds(10))
    #expect(late)
    #expect(desk.selection().pipeline.activeFilters == ["grayscale"])
    #expect(desk.selection().revision == Revision(number: 4, requestID: 9))
    #expect(!desk.selection().isOverride)
    let again = desk.endOverride()
    #expect(!again)
    #expect(desk.revision == 4)
  }

  @Test("A second override replaces the first, and its own time counts")
  func overrideTwice() throws {
    var desk = try Self.desk()
    try desk.override(with: [.filter("gaussianBlur")], reason: "a", until: .seconds(10))
    try desk.override(with: [.filter("pixellate")], reason: "b", until: .seconds(20))
    let first = desk.expire(at: .seconds(15))
    #expect(!first)
    #expect(desk.selection().pipeline.activeFilters == ["pixellate"])
    #expect(throws: PipelineError.self) {
      try desk.override(with: [.filter("nope")], reason: "c", until: .seconds(30))
    }
    #expect(desk.override?.reason == "b")
  }

  @Test("A pause tells whether it changed anything")
  func pause() throws {
    var desk = try Self.desk()
    for (pause, isChange) in [
      (.dropping, true), (.dropping, false), (.passing, true), (.running, true), (.running, false),
    ] as [(SelectionDesk.Pause, Bool)] {
      let changed = desk.setPause(pause)
      #expect(changed == isChange)
      #expect(desk.pause == pause)
    }
    #expect(desk.revision == 1, "a pause is no revision")
  }

  @Test("A token restores selection, parameters, activation, pause and override")
  func resume() throws {
    var desk = try Self.desk([
      Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
      Stage(.filter(FilterCall(name: "pixellate")), id: "blocks"),
    ])
    try desk.change(ifRevision: nil, requestID: 1) { pipeline throws(FieldFault) in
      do throws(PipelineError) {
        try pipeline.setParameters(["intensity": .number(0.25)], stage: "warm")
        try pipeline.setActive(false, stage: "blocks")
      } catch { throw FieldFault(error) }
    }
    _ = desk.setPause(.passing)
    try desk.override(with: [.filter("gaussianBlur")], reason: "why", until: .seconds(50))
    let state = desk.resumeState(
      of: SessionLineage(), at: .seconds(20), wallNow: 1_000_000_000, lifetime: .seconds(60))
    #expect(state.expiresNs == 61_000_000_000)
    var restored = try SelectionDesk(
      resuming: state, at: .seconds(500), wallNow: 11_000_000_000, catalogue: .builtIn)
    #expect(restored.pipeline == desk.pipeline)
    #expect(restored.pause == .passing)
    #expect(restored.selection().isOverride)
    #expect(restored.revision > desk.revision)
    // Thirty seconds were left, ten have passed since.
    let early = restored.expire(at: .seconds(519.9))
    #expect(!early)
    let late = restored.expire(at: .seconds(520))
    #expect(late)
    let after = try SelectionDesk(
      resuming: state, at: .zero, wallNow: 31_000_000_000, catalogue: .builtIn)
    #expect(after.override == nil)
    #expect(after.revision > state.revision, "the number was the override's")
  }
}
