/// Something that is measured, and told in a section of the report.
protocol Measurement {
  /// Measures.
  ///
  /// - Returns: The section.
  func run(_ settings: Settings) async throws -> Section
}
