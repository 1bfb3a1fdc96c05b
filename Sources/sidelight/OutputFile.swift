import ArgumentParser
import Foundation
import Synchronization
import UnixSignals

/// A file that gets its name when it is complete.
///
/// Until ``commit()`` the contents are in a temporary file in the same folder, and the name keeps
/// its earlier contents. In a folder that doesn't allow new files, and for a file that is a mount
/// point, as in containers, the contents are copied to the file at the end instead. Pipes,
/// terminals and devices, and the files behind `-`, `/dev/stdout` and `/dev/fd`, are written
/// directly.
final class OutputFile: Sendable {
  private struct Temporary {
    let path: String
    /// The path that it gets.
    let target: String
  }

  private enum State {
    case direct
    case temporary(Temporary)
    case finished
  }

  /// The descriptor to write to.
  let output: FileDescriptorOutput
  private let state: Mutex<State>

  /// Opens a file.
  ///
  /// - Parameter path: The path; `-` is standard output.
  /// - Throws: ``POSIXCallError``.
  init(path: String) throws(POSIXCallError) {
    // A closed pipe is reported by `write`, not by a signal.
    signal(SIGPIPE, SIG_IGN)
    guard path != "-" else {
      self.output = .standardOutput
      self.state = Mutex(.direct)
      return
    }
    let location = try FileLocation(path: path)
    guard let target = location.target else {
      let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
      guard descriptor >= 0 else { throw POSIXCallError(call: "open \(path)", code: errno) }
      self.output = FileDescriptorOutput(descriptor: descriptor)
      self.state = Mutex(.direct)
      return
    }
    // The contents are replaced, not the file's protection.
    guard location.mode == nil || access(target, W_OK) == 0 else {
      throw POSIXCallError(call: "open \(path)", code: errno)
    }
    let name = ".sidelight-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    var temporary = Temporary(path: "\(FileLocation.folder(of: target))/\(name)", target: target)
    // A file that exists may be private; a new one gets the permissions of the process's mask.
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
    var descriptor = open(temporary.path, flags, location.mode == nil ? 0o666 : 0o600)
    let code = errno
    if descriptor < 0, location.mode != nil {
      let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
      temporary = Temporary(path: "\(folder)/\(name)", target: target)
      descriptor = open(temporary.path, flags, 0o600)
    }
    guard descriptor >= 0 else { throw POSIXCallError(call: "open \(path)", code: code) }
    if let mode = location.mode, fchmod(descriptor, mode & 0o777) != 0 {
      let code = errno
      unlink(temporary.path)
      throw POSIXCallError(call: "fchmod \(path)", code: code)
    }
    self.output = FileDescriptorOutput(descriptor: descriptor)
    self.state = Mutex(.temporary(temporary))
  }

  /// Gives the file its name, and closes it.
  ///
  /// - Throws: ``POSIXCallError``.
  func commit() throws {
    try self.state.withLock { state in
      guard case .temporary(let temporary) = state else { return }
      if rename(temporary.path, temporary.target) != 0 {
        // Another file system, or a mount point.
        guard [EXDEV, EBUSY, EACCES, EPERM].contains(errno) else {
          throw POSIXCallError(call: "write \(temporary.target)", code: errno)
        }
        try self.copy(to: temporary.target)
        unlink(temporary.path)
      }
      state = .finished
      guard close(self.output.descriptor) == 0 else {
        throw POSIXCallError(call: "close \(temporary.target)", code: errno)
      }
    }
  }

  /// Replaces the contents of a file that keeps its place.
  private func copy(to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXCallError(call: "write \(path)", code: errno) }
    defer { close(descriptor) }
    let target = FileDescriptorOutput(descriptor: descriptor)
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while true {
      let count = pread(self.output.descriptor, &bytes, bytes.count, off_t(offset))
      guard count >= 0 else { throw POSIXCallError(call: "read \(path)", code: errno) }
      guard count > 0 else { return }
      try bytes.withUnsafeBytes { all in
        try target.write(UnsafeRawBufferPointer(rebasing: all[..<count]))
      }
      offset += count
    }
  }

  /// Removes the temporary file. Has no effect after ``commit()``.
  func discard() {
    self.state.withLock { state in
      guard case .temporary(let temporary) = state else { return }
      unlink(temporary.path)
      state = .finished
    }
  }

  /// Writes a file using a closure. If the closure throws, or at SIGINT, SIGTERM and SIGHUP, the
  /// name keeps its earlier contents. The signals end the process.
  ///
  /// - Parameters:
  ///   - path: The path; `-` is standard output.
  ///   - onInterruption: An action before the process ends at a signal.
  ///   - body: The closure, which has written everything when it returns.
  /// - Throws: ``POSIXCallError``, or the error of `body`.
  static func write(
    path: String, onInterruption: @escaping @Sendable () -> Void = {},
    _ body: (FileDescriptorOutput) async throws -> Void
  ) async throws {
    // Before the temporary file exists.
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    let file = try OutputFile(path: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await signal in signals {
          file.discard()
          onInterruption()
          // Other tasks may wait for input that never comes.
          _exit(128 + signal.rawValue)
        }
      }
      defer { group.cancelAll() }
      do {
        try await body(file.output)
        try file.commit()
      } catch {
        file.discard()
        throw error
      }
    }
  }
}

/// The file that a path leads to.
struct FileLocation {
  /// The path of the regular file to replace or to create, at the end of all symbolic links; `nil`
  /// for pipes, devices and open descriptors, which cannot be replaced.
  let target: String?
  /// The file's type and permissions; `nil` if it does not exist.
  let mode: mode_t?

  /// Follows a path.
  ///
  /// - Throws: ``POSIXCallError`` for folders, and for links that do not end.
  init(path: String) throws(POSIXCallError) {
    var status = stat()
    self.mode = stat(path, &status) == 0 ? status.st_mode : nil
    if let mode, mode & S_IFMT != S_IFREG {
      guard mode & S_IFMT != S_IFDIR else {
        throw POSIXCallError(call: "open \(path)", code: EISDIR)
      }
      self.target = nil
      return
    }
    var place = path
    for _ in 0 ..< 40 {
      // The descriptors of processes look like links to files.
      let folder = Self.resolved(Self.folder(of: place))
      if let folder, folder.hasPrefix("/proc/") || folder.hasPrefix("/dev/fd") {
        self.target = nil
        return
      }
      guard let link = Self.link(at: place) else {
        self.target = place
        return
      }
      place = link.hasPrefix("/") ? link : "\(Self.folder(of: place))/\(link)"
    }
    throw POSIXCallError(call: "open \(path)", code: ELOOP)
  }

  /// Returns whether a file that is written is standard output, a pipe or a device.
  static func isPipe(_ path: String) -> Bool {
    if path == "-" { return true }
    guard let location = try? FileLocation(path: path) else { return false }
    return location.target == nil
  }

  /// Returns the path of the folder that contains a file.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func resolved(_ path: String) -> String? {
    guard let result = realpath(path, nil) else { return nil }
    defer { free(result) }
    return String(cString: result)
  }

  /// Returns the target of a symbolic link; `nil` if the path is not one.
  private static func link(at path: String) -> String? {
    let capacity = Int(PATH_MAX)
    var characters = [CChar](repeating: 0, count: capacity)
    let count = readlink(path, &characters, capacity)
    guard count > 0 else { return nil }
    return String(decoding: characters.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// The device and the number of a regular file, which all of its names share.
struct FileIdentity: Hashable {
  private let device: dev_t
  private let number: ino_t

  /// Finds a file; `nil` if the path does not lead to a regular file.
  ///
  /// - Parameter standard: The descriptor that `-` names.
  init?(path: String, standard: Int32) {
    var status = stat()
    guard (path == "-" ? fstat(standard, &status) : stat(path, &status)) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    self.device = status.st_dev
    self.number = status.st_ino
  }

  /// Checks that a file to write is not one of the files to read, also under another name.
  ///
  /// - Throws: `ValidationError` that names both.
  static func check(output: String, differsFrom inputs: [String]) throws {
    guard let written = FileIdentity(path: output, standard: STDOUT_FILENO) else { return }
    for input in inputs where FileIdentity(path: input, standard: STDIN_FILENO) == written {
      throw ValidationError(
        "'\(output)' is the file that '\(input)' names; write the result to another file.")
    }
  }
}
