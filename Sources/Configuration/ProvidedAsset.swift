/// A file that the operator provides to all callers, and its name in pipelines.
public struct ProvidedAsset: Sendable, Hashable {
  /// The name in pipelines.
  public let name: String
  /// The path of the PNG, JPEG or `.cube` file.
  public let path: String
}
