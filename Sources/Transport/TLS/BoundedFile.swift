import Foundation

/// The reason why a file of certificates or keys cannot be used.
package struct BoundedFileError: Error, Sendable, Hashable {
  /// The reason, for a message.
  package let reason: String
}

/// Small files with certificates and keys. A wrong path must not read a large file.
package enum BoundedFile {
  /// The maximum size of a file in bytes.
  package static let limit = 1 << 20

  /// Reads a file.
  ///
  /// - Throws: ``BoundedFileError`` if the file is unreadable, isn't a regular file, is empty, or
  ///   too large.
  package static func contents(of path: String) throws(BoundedFileError) -> [UInt8] {
    let attributes: [FileAttributeKey: Any]
    do {
      // The attributes of a link's target.
      let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
      attributes = try FileManager.default.attributesOfItem(atPath: resolved)
    } catch {
      throw BoundedFileError(reason: "does not exist, or cannot be read")
    }
    // A pipe or a device may never end.
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      throw BoundedFileError(reason: "is no regular file")
    }
    guard let handle = FileHandle(forReadingAtPath: path),
      let data = try? handle.read(upToCount: Self.limit + 1)
    else { throw BoundedFileError(reason: "is empty, or cannot be read") }
    guard data.count <= Self.limit else {
      throw BoundedFileError(reason: "has more than \(Self.limit) bytes")
    }
    return [UInt8](data)
  }
}
