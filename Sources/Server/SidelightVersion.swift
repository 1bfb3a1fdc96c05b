/// The version of this build.
public enum SidelightVersion {
  /// The version in the form of semver.org.
  public static let current = "0.1.0"
}
