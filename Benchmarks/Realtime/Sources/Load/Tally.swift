/// What became of frames and pings.
struct Tally: Sendable {
  /// From a frame's being given to be sent until its outcome's arrival, of those that came back.
  var ages: [Duration] = []
  /// The work on the server, of those that came back.
  var work: [Duration] = []
  var dropped: [DropReason: Int] = [:]
  /// From a ping's being due until its pong's arrival.
  var pings: [Duration] = []
  /// Frames of the whole run without outcome. There must be none.
  var unaccounted = 0
  /// Outcomes of the whole run that no frame waited for. There must be none.
  var strayOutcomes = 0

  var made: Int { self.ages.count }
  var frames: Int { self.made + self.dropped.values.reduce(0, +) }
  /// The part of the frames that was not made.
  var droppedPart: Double { self.frames == 0 ? 0 : 1 - Double(self.made) / Double(self.frames) }

  mutating func add(_ fate: Fate) {
    switch fate {
    case .waiting, .sent: break
    case .made(let age, let work):
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
