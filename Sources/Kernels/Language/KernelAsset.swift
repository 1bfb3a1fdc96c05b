/// A kernel that pipelines name: `kernel(asset: "glow.kernel")`.
public final class KernelAsset: Sendable {
  /// The text.
  public let text: KernelText
  /// Retained as long as the text.
  private let lease: (any AssetLease)?

  /// The memory of a kernel for each byte of its file, at most: expressions and their names.
  package static let memoryPerByte = 256

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: The file, which begins with `kernel` and a name.
  ///   - lease: An object that the asset retains.
  /// - Throws: ``KernelTextError`` at the first error.
  package init(_ bytes: [UInt8], lease: (any AssetLease)?) throws(KernelTextError) {
    self.text = try KernelText(bytes, requiresHeader: true)
    self.lease = lease
  }

  /// Reads a file.
  ///
  /// - Parameter bytes: The file, which begins with `kernel` and a name.
  /// - Throws: ``KernelTextError`` at the first error.
  public convenience init(_ bytes: [UInt8]) throws(KernelTextError) {
    try self.init(bytes, lease: nil)
  }

  /// Whether the asset's memory is counted by a lease.
  var isLeased: Bool { self.lease != nil }
}

extension KernelAsset: Hashable {
  /// Whether both are the same object.
  public static func == (left: KernelAsset, right: KernelAsset) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
