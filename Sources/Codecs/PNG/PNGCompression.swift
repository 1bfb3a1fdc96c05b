/// How hard a PNG is compressed. The pixels are the same.
public enum PNGCompression: String, Sendable, Hashable, CaseIterable {
  /// Several times faster. Files of photographs are about a quarter larger, of smooth pictures
  /// more.
  case fast
  /// Smaller files.
  case small
}
