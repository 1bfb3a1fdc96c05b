import Synchronization

/// Generates IDs of traces and spans with SplitMix64 from a random seed, without system calls.
/// Collisions between servers are as rare as for random IDs.
final class IdentifierSource: Sendable {
  private let state: Atomic<UInt64>

  init(seed: UInt64 = .random(in: .min ... .max)) {
    self.state = Atomic(seed)
  }

  /// Returns a new trace ID.
  func traceID() -> TraceID {
    while true {
      if let id = TraceID(high: self.next(), low: self.next()) { return id }
    }
  }

  /// Returns a new span ID.
  func spanID() -> SpanID {
    while true {
      if let id = SpanID(self.next()) { return id }
    }
  }

  /// Sebastiano Vigna's SplitMix64 (https://prng.di.unimi.it/splitmix64.c).
  private func next() -> UInt64 {
    var z = self.state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
