/// A file that the operator provides to all callers, and the name by which their pipelines call it.
public struct ProvidedAsset: Sendable, Hashable {
  /// As pipelines name it.
  public let name: String
  /// Where the PNG, JPEG or `.cube` file is.
  public let path: String
}
