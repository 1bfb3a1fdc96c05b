import SidelightServer
import SidelightWire
import Synchronization

/// The outcomes of the frames of all sessions, which show when a model no longer sees an outcome.
final class ModelTally: Sendable {
  private let counts = Mutex<[String: UInt64]>([:])

  /// Adds the results of a session.
  func add(_ session: SessionModel) {
    self.counts.withLock { counts in
      counts["sent", default: 0] += UInt64(session.frames.count)
      counts["filtered", default: 0] += session.counts.filtered
      counts["passedThrough", default: 0] += session.counts.passedThrough
      counts["degraded", default: 0] += session.counts.degraded
      if session.counts.filtered > 0 {
        counts["files", default: 0] += UInt64(
          session.frames.count { $0.status == .admitted && $0.message.image.format == .jpeg })
      }
      counts["input slots", default: 0] += session.slotCounts.inputs
      counts["output slots", default: 0] += session.slotCounts.outputs
      for (reason, count) in session.dropCounts { counts["\(reason)", default: 0] += count }
    }
  }

  /// Outcomes that some frame had, and ways in which some came.
  var seen: Set<String> { self.counts.withLock { Set($0.filter { $0.value > 0 }.keys) } }

  /// The counts, to be read.
  var summary: String {
    self.counts.withLock { counts in
      counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
  }

  /// Outcomes that must occur among many frames. Drains have separate tests, and so have frames
  /// that are late on arrival, which are rare where pipelines are cheap.
  static var expected: Set<String> {
    let reasons: [Sidelight_V1_DropReason] = [
      .superseded, .queueFull, .lateInPipeline, .lateOnOutput, .noCredit,
      .rateLimited, .paused, .invalidFrame, .stageFailed, .outputSuperseded,
    ]
    let slots = SharedMemoryConfiguration.isSupported ? ["input slots", "output slots"] : []
    return Set(reasons.map { "\($0)" })
      .union(["sent", "filtered", "passedThrough", "degraded", "files"]).union(slots)
  }
}
