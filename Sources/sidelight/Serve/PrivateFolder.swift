import ArgumentParser
import Foundation

/// A folder for a Unix socket, which only this user can enter.
struct PrivateFolder: Sendable {
  /// The longest parent that leaves enough of a socket's path, which has at most 103 bytes.
  private static let maxParentBytes = 48

  /// The path, which is unique to this process.
  let path: String

  /// Chooses the path; ``make()`` creates the folder.
  init() {
    // The runtime folder is the user's own, and in memory; but not every user has one.
    let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
    let isUsable =
      runtime.hasPrefix("/") && runtime.utf8.count <= Self.maxParentBytes
      && access(runtime, W_OK | X_OK) == 0
    let name = String(UInt64.random(in: 0 ... .max), radix: 16)
    self.path = "\(isUsable ? runtime : "/tmp")/sidelight-studio-\(name)"
  }

  /// The path of the socket.
  var socket: String { "\(self.path)/grpc.sock" }

  /// Creates the folder.
  ///
  /// - Throws: `ValidationError` if it cannot be created, or already exists.
  func make() throws {
    guard mkdir(self.path, 0o700) == 0 else {
      throw ValidationError(
        "the folder \(self.path) cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  /// Removes the folder, if it is empty.
  func remove() { rmdir(self.path) }
}
