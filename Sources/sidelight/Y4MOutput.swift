import Dispatch
import SidelightCodecs
import SidelightKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A Y4M file or pipe. Writing blocks a thread of a dispatch queue.
final class Y4MOutput: @unchecked Sendable {  // one task writes, one call at a time
  private var writer: Y4MWriter?
  private let queue = DispatchQueue(label: "sidelight.y4m-output")

  /// Opens the file.
  ///
  /// - Throws: ``POSIXFailure``.
  init(path: String, header: Y4MHeader) throws {
    let descriptor =
      path == "-" ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0 else { throw POSIXFailure(call: "open \(path)", code: errno) }
    // A closed pipe is reported by `write`, not by a signal.
    signal(SIGPIPE, SIG_IGN)
    let output = FileDescriptorOutput(descriptor: descriptor)
    self.writer = Y4MWriter(header: header) { span in
      try span.withUnsafeBytes { bytes in try output.write(bytes) }
    }
  }

  func write(_ frame: Frame) async throws {
    try await self.queue.run { try self.writer?.write(frame) }
  }

  /// Finishes the stream.
  func finish() async throws {
    try await self.queue.run { try self.writer.take()?.finish() }
  }
}
