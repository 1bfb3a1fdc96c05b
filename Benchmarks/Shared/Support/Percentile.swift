extension [Duration] {
  /// Returns the value that `percent` percent of the values do not exceed; zero for an empty
  /// collection.
  package func percentile(_ percent: Double) -> Duration {
    guard !self.isEmpty else { return .zero }
    let rank = Int((percent / 100 * Double(self.count)).rounded(.up))
    return self.sorted()[Swift.min(Swift.max(0, rank - 1), self.count - 1)]
  }
}

extension Duration {
  /// The duration in microseconds.
  package var microseconds: Double { self / .microseconds(1) }
}
