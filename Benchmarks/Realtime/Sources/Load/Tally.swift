/// The results of frames and pings.
struct Tally: Sendable {
  /// The times from when the sender had a frame until its outcome arrived, of filtered frames.
  var ages: [Duration] = []
  /// The server's work per filtered frame.
  var work: [Duration] = []
  var dropped: [DropReason: Int] = [:]
  /// The times from when a ping was due until its pong arrived.
  var pings: [Duration] = []
  /// The frames of the run without an outcome; must be 0.
  var unaccounted = 0
  /// The outcomes of the run without a frame; must be 0.
  var strayOutcomes = 0

  var delivered: Int { self.ages.count }
  var frames: Int { self.delivered + self.dropped.values.reduce(0, +) }
  /// The fraction of frames that were not filtered.
  var droppedFraction: Double {
    self.frames == 0 ? 0 : 1 - Double(self.delivered) / Double(self.frames)
  }

  mutating func add(_ result: FrameResult) {
    switch result {
    case .waiting, .sent: break
    case .delivered(let age, let work):
      self.ages.append(age)
      self.work.append(work)
    case .dropped(let reason): self.dropped[reason, default: 0] += 1
    }
  }

  mutating func add(_ other: Tally) {
    self.ages += other.ages
    self.work += other.work
    self.dropped.merge(other.dropped, uniquingKeysWith: +)
    self.pings += other.pings
    self.unaccounted += other.unaccounted
    self.strayOutcomes += other.strayOutcomes
  }
}
