import SidelightServer
import SidelightTestSupport
import Synchronization
import Testing

/// Tests of override stores that exchange their decisions.
@Suite struct OverrideMergeTests {
  private static let identities = ["ana", "ben"].map {
    CallerIdentity(caller: "a", participant: $0)
  }
  private static let sessions = Self.identities.flatMap { identity in
    (0 ..< 2).map { _ in
      OverrideStore.Session(lineage: SessionLineage(), identity: identity, label: "camera")
    }
  }

  private static func describe(_ store: OverrideStore, at now: Duration) -> [String] {
    self.sessions.map { session in
      switch store.decision(for: session, at: now) {
      case .forced(_, let reason, _)?: reason
      case .lifted?, nil: "none"
      }
    }
  }

  @Test(arguments: 1 ... 20)
  func `stores that have all decisions agree, whatever their order`(seed: Int) throws {
    var dice = SeededRandom(seed: UInt64(seed))
    let time = Mutex(UInt64(1 << 60))
    let stores = (0 ..< 3).map { index in
      // The servers' clocks differ.
      OverrideStore {
        time.withLock { time in
          time += 10_000_000
          return time + UInt64(index) * 3_000_000
        }
      }
    }
    for round in 0 ..< 12 {
      for (index, store) in stores.enumerated() {
        let session = Self.sessions[dice.number(0 ... 3)]
        let participants = OverrideStore.Participants(
          name: session.identity.participant, caller: dice.number(0 ... 1) == 0 ? nil : "a")
        let decision = OverrideStore.Decision.forced(
          [], reason: "\(round).\(index)", until: .seconds(dice.number(1 ... 100)))
        switch dice.number(0 ... 5) {
        case 0: try store.record(decision, for: participants, at: .zero)
        case 1: try store.lift(participants, at: .zero)
        case 2: try store.lift(session, until: nil, at: .zero)
        default: try store.record(decision, for: session, at: .zero)
        }
      }
      let records = stores.map { $0.records(at: .zero) }
      for store in stores {
        for record in records.flatMap(\.self).shuffled(using: &dice) {
          _ = store.merge(record, at: .zero)
        }
      }
      for seconds in stride(from: 0, to: 100, by: 9) {
        let seen = stores.map { Self.describe($0, at: .seconds(seconds)) }
        #expect(Set(seen).count == 1, "\(round) \(seconds)")
      }
    }
  }

  @Test func `a decision of another server is stored once, and until its end`() throws {
    let (one, other) = (OverrideStore(), OverrideStore())
    try one.record(
      .forced([], reason: "x", until: .seconds(10)), for: Self.sessions[0], at: .zero)
    let record = try #require(one.records(at: .zero).first)
    guard case .new(ending: let ended) = other.merge(record, at: .zero), ended.isEmpty,
      case .known = other.merge(record, at: .zero)
    else {
      Issue.record("a decision is new once")
      return
    }
    #expect(Self.describe(other, at: .zero) == ["x", "x", "none", "none"])
    guard case .expired = OverrideStore().merge(record, at: .seconds(10)) else {
      Issue.record("a decision that has expired is not stored")
      return
    }
    #expect(other.records(at: .seconds(10)).isEmpty)
  }
}
