/// The value of a filter's parameter, as it travels and as it is written.
public enum ParameterValue: Sendable, Hashable {
  /// A number; also accepted where a length in pixels is meant.
  case number(Double)
  /// A length, absolute or relative to the frame.
  case length(Length)
  /// A place in the frame.
  case point(Point)
  /// A colour.
  case color(Color)
  /// Numbers, as many as the parameter says.
  case vector([Double])
  /// Yes or no.
  case flag(Bool)
  /// A name: an asset's, or one of a parameter's choices.
  case text(String)
}
