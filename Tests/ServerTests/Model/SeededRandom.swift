/// Random numbers that depend on a seed alone: SplitMix64 (Steele, Lea, Flood, 2014).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = self.state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// Returns `true` with a probability of 0-1.
  mutating func chance(_ probability: Double) -> Bool {
    Double.random(in: 0 ..< 1, using: &self) < probability
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// Returns one of several elements with equal probability.
  mutating func pick<Element>(_ first: Element, _ others: Element...) -> Element {
    let index = self.number(0 ... others.count)
    return index == 0 ? first : others[index - 1]
  }
}
