import SidelightKernels

/// What assets may be called.
enum AssetName {
  /// The most bytes of a name.
  static let maxByteCount = 64

  /// Checks a name that somebody wants to put an asset under.
  ///
  /// - Parameter field: Where the name stands in the request.
  /// - Throws: ``AssetFault`` with reason ``AssetFault/Reason/name``.
  static func check(_ name: String, field: String) throws(AssetFault) {
    func fault(_ description: String) -> AssetFault {
      AssetFault(
        reason: .name, field: field, description: description,
        value: name,
        limit: "1 to \(Self.maxByteCount) of A-Z a-z 0-9 . _ - /")
    }
    let bytes = name.utf8
    guard let first = bytes.first else { throw fault("is empty") }
    guard bytes.count <= Self.maxByteCount else {
      throw fault("has \(bytes.count) bytes, the limit is \(Self.maxByteCount)")
    }
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

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a") ... UInt8(ascii: "z"), UInt8(ascii: "A") ... UInt8(ascii: "Z"),
      UInt8(ascii: "0") ... UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
