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

/// A Y4M file or pipe. Writing blocks a thread of a queue.
final class Y4MOutput: @unchecked Sendable {  // one task writes, one call at a time
  private var writer: Y4MWriter?
  private let queue = DispatchQueue(label: "sidelight.y4m-output")

  /// - Throws: ``POSIXFailure``.
  init(path: String, header: Y4MHeader) throws {
    let descriptor =
      path == "-" ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0 else { throw POSIXFailure(call: "open \(path)", code: errno) }
    // A reader that went away is told by `write`, not by a signal.
    signal(SIGPIPE, SIG_IGN)
    let output = FileDescriptorOutput(descriptor: descriptor)
    self.writer = Y4MWriter(header: header) { span in
      try span.withUnsafeBytes { bytes in try output.write(bytes) }
    }
  }

  func write(_ frame: Frame) async throws {
    try await self.queue.run { try self.writer?.write(frame) }
  }

  /// Ends the stream.
  func finish() async throws {
    try await self.queue.run { try self.writer.take()?.finish() }
  }
}
