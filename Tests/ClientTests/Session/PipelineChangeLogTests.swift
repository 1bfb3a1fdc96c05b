import SidelightClient
import SidelightKernels
import SidelightWire
import Testing

/// All transitions of the change log.
@Suite struct PipelineChangeLogTests {
  static let first: Pipeline = [Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm")]

  static func warm(_ intensity: Double, isActive: Bool = true) -> Pipeline {
    [
      Stage(
        .filter(FilterCall(name: "sepiaTone", parameters: ["intensity": .number(intensity)])),
        id: "warm", isActive: isActive)
    ]
  }

  static func update(_ intensity: Double) -> PipelineChange {
    .update(["warm": ["intensity": .number(intensity)]])
  }

  static func replay(_ pipeline: Pipeline, _ requestID: UInt64) -> PipelineChangeLog.Replay {
    PipelineChangeLog.Replay(pipeline: .pipeline(pipeline), requestID: requestID)
  }

  /// Records a change and sends it.
  static func send(
    _ change: PipelineChange, isConditional: Bool = false, in log: inout PipelineChangeLog
  ) -> UInt64 {
    let requestID = log.record(change, isConditional: isConditional)
    log.send(requestID)
    return requestID
  }

  @Test func `a session is opened with the selection that the server put into force`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    #expect(log.pipeline == .pipeline(Self.first))
    _ = Self.send(Self.update(0.5), in: &log)
    let second = Self.send(.activate(["warm": false]), in: &log)
    #expect(
      log.pipeline == .pipeline(Self.first), "it is not known yet whether the server takes them")
    log.apply(second)
    #expect(log.pipeline == .pipeline(Self.warm(0.5, isActive: false)))
    #expect(log.takeReplay() == nil)
  }

  @Test func `changes without an answer are requested again, as one, in the name of the last`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    _ = Self.send(Self.update(0.5), in: &log)
    let last = Self.send(.activate(["warm": false]), in: &log)
    #expect(log.loseConnection().isEmpty)
    #expect(
      log.takeReplay()
        == Self.replay(Self.warm(0.5, isActive: false), last))
    log.apply(last)
    #expect(log.takeReplay() == nil)
  }

  @Test func `a change that waits to be sent is not requested twice`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    let sent = Self.send(Self.update(0.5), in: &log)
    _ = log.record(Self.update(0.9), isConditional: false)
    _ = log.loseConnection()
    #expect(
      log.takeReplay()
        == Self.replay(Self.warm(0.5), sent))
  }

  @Test func `a change that was refused is not requested again`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    let refused = Self.send(.select([.filter("nope")]), in: &log)
    let kept = Self.send(Self.update(0.25), in: &log)
    #expect(log.reject(refused) == nil)
    #expect(
      log.takeReplay() == Self.replay(Self.warm(0.25), kept))
  }

  @Test
  func `if the last of several that were requested as one is refused, the others still count`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    let good = Self.send(Self.update(0.5), in: &log)
    let bad = Self.send(.select([.filter("nope")]), in: &log)
    _ = log.loseConnection()
    #expect(log.takeReplay()?.requestID == bad)
    #expect(
      log.reject(bad)
        == Self.replay(Self.warm(0.5), good))
    log.apply(good)
    #expect(log.pipeline == .pipeline(Self.warm(0.5)))
  }

  @Test func `a change with a condition is not requested twice: its outcome is not known`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    let conditional = Self.send(Self.update(0.5), isConditional: true, in: &log)
    let waiting = log.record(Self.update(0.7), isConditional: true)
    #expect(log.loseConnection() == [conditional])
    #expect(log.takeReplay() == nil)
    log.send(waiting)
    #expect(log.loseConnection() == [waiting])
  }

  @Test func `a change that cannot be is left out, as the server leaves it out`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    let last = Self.send(.activate(["no such stage": false]), in: &log)
    #expect(
      log.takeReplay() == Self.replay(Self.first, last))
  }

  @Test func `changes that no frame is filtered with are kept in bounds, and none is lost`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    var last: UInt64 = 0
    for step in 1 ... 1000 { last = Self.send(Self.update(Double(step) / 1000), in: &log) }
    #expect(
      log.takeReplay() == Self.replay(Self.warm(1), last))
    #expect(log.pipeline == .pipeline(Self.warm(0.936)), "all but the last 64 count as in force")
  }

  @Test func `a change with a condition is requested again if it was accepted`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    let accepted = Self.send(Self.update(0.5), isConditional: true, in: &log)
    let unanswered = Self.send(Self.update(0.7), isConditional: true, in: &log)
    log.accept(accepted)
    #expect(log.pipeline == .pipeline(Self.first), "no frame was filtered with it")
    #expect(log.loseConnection() == [unanswered])
    #expect(log.takeReplay() == Self.replay(Self.warm(0.5), accepted))
  }

  @Test func `an acceptance answers every change that was sent before, and none that was not`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    _ = Self.send(Self.update(0.5), isConditional: true, in: &log)
    let second = Self.send(.activate(["warm": false]), isConditional: true, in: &log)
    let unsent = log.record(Self.update(0.7), isConditional: true)
    log.accept(second)
    #expect(log.loseConnection().isEmpty)
    #expect(log.takeReplay() == Self.replay(Self.warm(0.5, isActive: false), second))
    log.send(unsent)
    #expect(log.loseConnection() == [unsent])
  }

  // MARK: Texts

  @Test func `a text is requested again as the pipeline that it says, with later changes`() {
    var log = PipelineChangeLog(pipeline: [])
    let text = Self.send(.select(text: "warm: sepiaTone"), in: &log)
    #expect(log.takeReplay() == Self.replay(Self.first, text))
    let last = Self.send(Self.update(0.5), in: &log)
    _ = log.loseConnection()
    #expect(log.takeReplay() == Self.replay(Self.warm(0.5), last))
    log.apply(last)
    #expect(log.pipeline == .pipeline(Self.warm(0.5)))
  }

  @Test func `a text that cannot be parsed is requested again as it is, without later changes`() {
    let text = "sepiaTone | a syntax of the future"
    var log = PipelineChangeLog(pipeline: Self.first)
    let selection = Self.send(.select(text: text), in: &log)
    let update = Self.send(Self.update(0.5), in: &log)
    #expect(
      log.takeReplay()
        == PipelineChangeLog.Replay(pipeline: .text(text), requestID: update))
    log.apply(selection)
    #expect(log.pipeline == .text(text))
    log.apply(Self.send(.select(Self.first), in: &log))
    #expect(log.pipeline == .pipeline(Self.first))
  }

  @Test(
    arguments: [
      ("sepiaTone", []), ("sepiaTone, faceBlur", .faces), ("[facePixellate], sepiaTone", .faces),
      ("virtualBackground(asset: room)", .background),
      ("backgroundBlur(protect: false), hide: faceBlur", .faces), ("faceBlur @off", []),
    ] as [(String, PipelineProtection)])
  func `a text protects what its filters hide`(text: String, protection: PipelineProtection) {
    var log = PipelineChangeLog(pipeline: Self.first)
    let selection = Self.send(.select(text: text), in: &log)
    #expect(log.protection == protection)
    #expect(log.confirmedProtection == [])
    log.apply(selection)
    #expect(log.protection == protection)
    #expect(log.confirmedProtection == protection)
  }

  @Test func `a text that cannot be parsed may hide anything, and certainly hides nothing`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    let selection = Self.send(.select(text: "faceBlur {"), in: &log)
    #expect(log.protection == .all)
    log.accept(selection)
    log.apply(selection)
    #expect(log.protection == .all)
    #expect(log.confirmedProtection == [])
    let refused = Self.send(.select(text: "("), in: &log)
    log.apply(Self.send(.select(Self.first), in: &log))
    #expect(log.reject(refused) == nil)
    #expect(log.protection == [])
  }

  // MARK: Protection

  static func hiding(_ isActive: Bool) -> Pipeline {
    [
      Stage(.filter(FilterCall(name: "faceBlur")), id: "hide", isActive: isActive),
      Stage(.filter(FilterCall(name: "sepiaTone")), id: "warm"),
    ]
  }

  @Test func `protection counts from its request until a pipeline without it is in force`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    #expect(log.protection == [])
    // Not sent yet.
    let selection = log.record(.select(Self.hiding(true)), isConditional: false)
    #expect(log.protection == .faces)
    #expect(log.confirmedProtection == [])
    log.send(selection)
    log.apply(selection)
    #expect(log.confirmedProtection == .faces)
    let end = Self.send(.activate(["hide": false]), in: &log)
    #expect(log.protection == .faces)
    log.apply(end)
    #expect(log.protection == [])
    #expect(log.confirmedProtection == [])
    let start = Self.send(.activate(["hide": true]), in: &log)
    #expect(log.protection == .faces)
    _ = Self.send(.select(Self.first), in: &log)
    #expect(log.protection == .faces, "it was in force between the two")
    _ = log.reject(start)
    #expect(log.protection == [])
  }

  @Test func `a refused end of protection ends nothing`() {
    var log = PipelineChangeLog(pipeline: Self.hiding(true))
    let end = Self.send(.select(Self.first), in: &log)
    _ = log.reject(end)
    #expect(log.protection == .faces)
    #expect(log.confirmedProtection == .faces)
  }

  @Test func `a lost change that protects counts until another selection is in force`() {
    var log = PipelineChangeLog(pipeline: Self.hiding(false))
    _ = Self.send(.activate(["hide": true]), isConditional: true, in: &log)
    #expect(log.loseConnection().count == 1)
    #expect(log.protection == .faces)
    // Whether it is in force is not known either.
    #expect(log.confirmedProtection == [])
    log.apply(Self.send(Self.update(0.5), in: &log))
    #expect(log.protection == .faces)
    log.apply(Self.send(.select(Self.first), in: &log))
    #expect(log.protection == [])
  }

  @Test func `changes that count as accepted without an answer end no protection`() {
    var log = PipelineChangeLog(pipeline: Self.hiding(true))
    for _ in 0 ..< 100 { _ = Self.send(.select(Self.first), in: &log) }
    #expect(log.protection == .faces)
    log.apply(100)
    #expect(log.protection == [])
  }

  @Test func `a move repeats what the token of its connection does not know`() {
    var log = PipelineChangeLog(pipeline: Self.first)
    log.apply(Self.send(.select(Self.hiding(true)), in: &log))
    log.startMove()
    #expect(log.takeMoveReplay() == nil, "the token knows it")
    let later = Self.send(.select(Self.first), in: &log)
    #expect(!log.areAnswered)
    log.accept(later)
    #expect(log.areAnswered)
    #expect(log.takeMoveReplay()?.requestID == later)
    log.apply(later)
    #expect(log.takeMoveReplay() == .init(pipeline: .pipeline(Self.first), requestID: 0))
    log.startMove()
    #expect(log.takeMoveReplay() == nil)
    let unsent = log.record(.select(Self.hiding(true)), isConditional: false, isSent: true)
    #expect(log.areAnswered, "it waits for the next connection")
    #expect(log.takeMoveReplay()?.requestID == unsent)
  }
}
