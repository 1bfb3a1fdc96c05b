/// A measurement that fills a section of the report.
protocol Measurement {
  /// Measures.
  ///
  /// - Returns: The section.
  func run(_ settings: Settings) async throws -> Section
}
