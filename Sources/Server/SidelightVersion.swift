/// What this build calls itself.
public enum SidelightVersion {
  /// As semver.org has it.
  public static let current = "0.1.0"
}
