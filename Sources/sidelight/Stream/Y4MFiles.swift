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

/// The frames of a Y4M file or pipe. Reading blocks a thread of a dispatch queue.
final class Y4MInput: @unchecked Sendable {  // one task reads, one call at a time
  let header: Y4MHeader
  private var reader: Y4MReader
  private let queue = DispatchQueue(label: "sidelight.y4m-input")

  /// Opens the file and reads its header.
  ///
  /// - Throws: ``POSIXCallError``, or `CodecError` if the file is not Y4M.
  init(path: String) throws {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY)
    guard descriptor >= 0 else { throw POSIXCallError(call: "open \(path)", code: errno) }
    self.reader = try Y4MReader(pool: BufferPool()) { span in
      try span.withUnsafeMutableBytes { bytes in
        while true {
          let count = read(descriptor, bytes.baseAddress, bytes.count)
          if count >= 0 { return count }
          guard errno == EINTR else { throw POSIXCallError(call: "read", code: errno) }
        }
      }
    }
    self.header = self.reader.header
  }

  /// Returns the next frame, `nil` at the end.
  func next() async throws -> Frame? {
    try await self.queue.run { try self.reader.next() }
  }

  /// The duration of a frame.
  var frameDuration: Duration { self.time(ofFrame: 1) }

  /// Returns the time of a frame from the start of the video.
  func time(ofFrame index: Int) -> Duration {
    guard let rate = self.header.frameRate else { return .seconds(Double(index) / 30) }
    return .seconds(Double(index) * Double(rate.denominator) / Double(rate.numerator))
  }
}

extension DispatchQueue {
  /// Runs work that blocks its thread, and returns its result.
  func run<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      self.async { continuation.resume(with: Swift.Result { try work() }) }
    }
  }
}

extension Y4MInput: AsyncSequence {
  struct Iterator: AsyncIteratorProtocol {
    let input: Y4MInput

    mutating func next() async throws -> Frame? { try await self.input.next() }
  }

  func makeAsyncIterator() -> Iterator { Iterator(input: self) }
}

/// A Y4M file or pipe. Writing blocks a thread of a dispatch queue.
final class Y4MOutput: @unchecked Sendable {  // one task writes, one call at a time
  private var writer: Y4MWriter?
  private let queue = DispatchQueue(label: "sidelight.y4m-output")

  /// Creates the output of a stream to an opened file.
  init(_ output: FileDescriptorOutput, header: Y4MHeader) {
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
