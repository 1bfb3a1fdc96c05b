public import SidelightKernels

extension KernelText: KernelHandle {}

extension KernelAsset {
  /// The maximum memory of a kernel per byte of its file: expressions and their names.
  package static let memoryPerByte = 256

  /// The text.
  public var text: KernelText {
    guard let text = self.handle as? KernelText else {
      preconditionFailure("a kernel of another language")
    }
    return text
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: The file, which begins with `kernel` and a name.
  ///   - lease: An object that the asset retains.
  /// - Throws: ``KernelTextError`` at the first error.
  package convenience init(_ bytes: [UInt8], lease: (any AssetLease)?) throws(KernelTextError) {
    self.init(handle: try KernelText(bytes, requiresHeader: true), lease: lease)
  }

  /// Reads a file.
  ///
  /// - Parameter bytes: The file, which begins with `kernel` and a name.
  /// - Throws: ``KernelTextError`` at the first error.
  public convenience init(_ bytes: [UInt8]) throws(KernelTextError) {
    try self.init(bytes, lease: nil)
  }
}
