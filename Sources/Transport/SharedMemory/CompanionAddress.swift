import Foundation
import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Where a companion socket listens.
struct CompanionAddress: Sendable {
  /// The socket's path.
  let path: String
  /// The folder that was made for it; `nil` if it was not.
  private let folder: String?

  /// - Parameter configured: The path; `nil` for one in a new folder that only this user can enter.
  /// - Throws: ``SharedMemoryError`` if the folder cannot be made.
  init(_ configured: String?) throws(SharedMemoryError) {
    if let configured {
      self.path = configured
      self.folder = nil
      return
    }
    // The runtime folder is the user's own, and in memory; but not everybody has one.
    let parent = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/tmp"
    var template = Array("\(parent)/sidelight-XXXXXX".utf8CString)
    // mkdtemp gives it the mode 0700.
    guard mkdtemp(&template) != nil else {
      throw SharedMemoryError("making a folder in \(parent)", code: errno)
    }
    let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    self.folder = folder
    self.path = "\(folder)/ring.sock"
  }

  /// Removes the folder, if it was made for the socket and that is gone.
  func removeFolder() {
    if let folder { rmdir(folder) }
  }
}
