/// A kernel that pipelines name: `kernel(asset: "glow.kernel")`.
///
/// Two kernels are equal if they are the same object.
public final class KernelAsset: Sendable {
  /// The language's form of the kernel.
  package let handle: any KernelHandle
  /// Retained for the kernel's lifetime.
  private let lease: (any AssetLease)?

  /// Creates a kernel.
  ///
  /// - Parameters:
  ///   - handle: The form of the kernel that its language reads.
  ///   - lease: An object that the asset retains.
  package init(handle: any KernelHandle, lease: (any AssetLease)?) {
    self.handle = handle
    self.lease = lease
  }

  /// Whether the asset's memory is counted by a lease.
  var isLeased: Bool { self.lease != nil }
}

/// A language's form of a kernel.
package protocol KernelHandle: Sendable {}

extension KernelAsset: Hashable {
  /// Whether both are the same object.
  public static func == (left: KernelAsset, right: KernelAsset) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
