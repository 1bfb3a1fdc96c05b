import SidelightKernels

/// What assets may be called.
enum AssetName {
  /// The most bytes of a name.
  static let maxByteCount = Pipeline.maxNameBytes

  /// Checks a name that somebody wants to put an asset under.
  ///
  /// - Parameter field: Where the name stands in the request.
  /// - Throws: ``AssetError`` with reason ``AssetError/Reason/name``.
  static func check(_ name: String, field: String) throws(AssetError) {
    func fault(_ description: String) -> AssetError { Self.fault(name, field, description) }
    let bytes = name.utf8
    guard let first = bytes.first else { throw fault("is empty") }
    try Self.checkLength(name, field: field)
    guard Self.isLetterOrDigit(first),
      bytes.allSatisfy({ Self.isLetterOrDigit($0) || "._-/".utf8.contains($0) })
    else {
      throw fault(
        "is \"\(name)\"; a name is of A-Z a-z 0-9 . _ - /, and begins with a letter or a digit")
    }
    guard name != Asset.sourceName else {
      throw fault("is \"\(name)\", which stands for the frame as it came in")
    }
  }

  /// Checks the length of a name, whatever its characters.
  ///
  /// - Parameter field: The field of the request that has the name.
  /// - Throws: ``AssetError`` with reason ``AssetError/Reason/name``.
  static func checkLength(_ name: String, field: String) throws(AssetError) {
    let count = name.utf8.count
    guard count <= Self.maxByteCount else {
      throw Self.fault(name, field, "has \(count) bytes, the limit is \(Self.maxByteCount)")
    }
  }

  private static func fault(
    _ name: String, _ field: String, _ description: String
  ) -> AssetError {
    AssetError(
      reason: .name, field: field, description: description, value: name,
      limit: "1 to \(Self.maxByteCount) of A-Z a-z 0-9 . _ - /")
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a") ... UInt8(ascii: "z"), UInt8(ascii: "A") ... UInt8(ascii: "Z"),
      UInt8(ascii: "0") ... UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
