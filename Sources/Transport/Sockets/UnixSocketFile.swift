import CSharedMemory
import Foundation
import SidelightWire

/// The file of a Unix socket that listens.
///
/// A file that a dead server has left is replaced, unlike a file that a server listens on, or that
/// is not a socket. Two servers that start at once take turns using a lock on the folder, which
/// prevents one from treating the other's new socket as stale.
struct UnixSocketFile: Sendable {
  /// The identity of a file, in case another replaces it.
  private struct Identity: Hashable {
    var device: UInt64 = 0
    var inode: UInt64 = 0
    var isSocket = false

    /// - Returns: `nil` if the file doesn't exist.
    /// - Throws: ``ListeningError`` if the file cannot be identified.
    init?(_ path: String) throws(ListeningError) {
      let result = csm_identify(path, &self.device, &self.inode)
      if result == -ENOENT { return nil }
      guard result >= 0 else {
        throw ListeningError(errno: -result, call: "lstat", .unix(path: path))
      }
      self.isSocket = result == 1
    }
  }

  /// The listening socket.
  let descriptor: Int32
  private let path: String
  private let identity: Identity?

  /// Binds and listens.
  ///
  /// - Parameters:
  ///   - path: The path; at most 107 bytes (103 on Darwin).
  ///   - permissions: The mode of the file: processes that may write it may connect. Set before the
  ///     first can.
  /// - Throws: ``ListeningError``.
  init(listeningAt path: String, permissions: UInt16) async throws {
    let address = Address.unix(path: path)
    let name = try Self.socketAddress(path)
    let folder = try await Self.lockFolder(of: path)
    defer { close(folder) }
    try Self.removeStale(path, name)

    let descriptor = socket(AF_UNIX, BoundSocket.stream, 0)
    guard descriptor >= 0 else { throw ListeningError(errno: errno, call: "socket", address) }
    do {
      let isBound = Self.withSocketAddress(name) { bind(descriptor, $0, $1) } == 0
      guard isBound else { throw ListeningError(errno: errno, call: "bind", address) }
      // Processes can connect only after `listen`, when the permissions are set.
      guard chmod(path, mode_t(permissions)) == 0, listen(descriptor, 1024) == 0 else {
        let error = ListeningError(errno: errno, call: "listen", address)
        unlink(path)
        throw error
      }
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
    self.identity = try? Identity(path)
  }

  /// Removes the file, unless another has replaced it.
  func remove() {
    guard let identity, (try? Identity(self.path)) == identity else { return }
    unlink(self.path)
  }

  // MARK: Stale files

  /// Removes the file that a dead server has left.
  private static func removeStale(_ path: String, _ name: sockaddr_un) throws(ListeningError) {
    let address = Address.unix(path: path)
    guard let identity = try Identity(path) else { return }
    guard identity.isSocket else {
      throw ListeningError(.notASocket, address, "a file that is no socket is there")
    }
    let probe = socket(AF_UNIX, BoundSocket.stream, 0)
    guard probe >= 0 else { throw ListeningError(errno: errno, call: "socket", address) }
    defer { close(probe) }
    _ = fcntl(probe, F_SETFL, fcntl(probe, F_GETFL) | O_NONBLOCK)
    guard Self.withSocketAddress(name, { connect(probe, $0, $1) }) != 0 else {
      throw ListeningError(.inUse, address, "another server listens there")
    }
    switch errno {
    case ECONNREFUSED:
      guard unlink(path) == 0 || errno == ENOENT else {
        throw ListeningError(errno: errno, call: "unlink", address)
      }
    case ENOENT: break
    // A socket whose queue is full is in use.
    case EAGAIN, EINPROGRESS:
      throw ListeningError(.inUse, address, "another server listens there")
    case EPROTOTYPE:
      throw ListeningError(.notASocket, address, "a socket of another kind is there")
    default: throw ListeningError(errno: errno, call: "connect", address)
    }
  }

  // MARK: The folder's lock

  private static func lockFolder(of path: String) async throws -> Int32 {
    let address = Address.unix(path: path)
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ListeningError(errno: errno, call: "open \(folder)", address)
    }
    do {
      for _ in 0 ..< 100 {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        guard errno == EWOULDBLOCK || errno == EINTR else {
          throw ListeningError(errno: errno, call: "flock \(folder)", address)
        }
        // A blocking lock would hold a thread of the pool, and its release isn't reported as an
        // event.
        try await Task.sleep(for: .milliseconds(20))
      }
      throw ListeningError(.other, address, "another process keeps a lock on \(folder)")
    } catch {
      close(descriptor)
      throw error
    }
  }

  // MARK: System calls

  private static func socketAddress(_ path: String) throws(ListeningError) -> sockaddr_un {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let limit = MemoryLayout.size(ofValue: name.sun_path) - 1
    guard !bytes.isEmpty, bytes.count <= limit, !bytes.contains(0) else {
      throw ListeningError(
        .pathTooLong, .unix(path: path),
        "the path has \(bytes.count) bytes, the range is 1 to \(limit)")
    }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    return name
  }

  private static func withSocketAddress(
    _ name: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafePointer(to: name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
