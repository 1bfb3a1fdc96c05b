extension FilterCatalogue {
  /// Adds the analyses, which look at frames and touch nothing.
  mutating func registerAnalyses() {
    self.register(BrightnessStatistics.self)
  }
}
