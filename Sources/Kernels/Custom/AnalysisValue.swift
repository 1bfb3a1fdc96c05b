/// Something that an analysis found.
public enum AnalysisValue: Sendable, Hashable {
  /// A number.
  case number(Double)
  /// Numbers: a histogram, for instance.
  case vector([Double])
  /// A name.
  case text(String)
  /// Where something is in the frame.
  case region(Region, confidence: Double, id: UInt64)
  /// Several of these.
  case list([AnalysisValue])
}
