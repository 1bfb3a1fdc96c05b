import Foundation

/// Why a file of certificates or keys cannot be had.
package struct BoundedFileError: Error, Sendable, Hashable {
  /// In words.
  package let reason: String
}

/// Small files with certificates and keys, which a mistake in a path must not make large.
package enum BoundedFile {
  /// The most bytes of one.
  package static let limit = 1 << 20

  /// Reads a file.
  ///
  /// - Throws: ``BoundedFileError`` if it cannot be read, is no regular file, is empty, or too large.
  package static func contents(of path: String) throws(BoundedFileError) -> [UInt8] {
    let attributes: [FileAttributeKey: Any]
    do {
      // Of what a link leads to.
      let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
      attributes = try FileManager.default.attributesOfItem(atPath: resolved)
    } catch {
      throw BoundedFileError(reason: "does not exist, or cannot be read")
    }
    // A pipe, or a device, may never end.
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
