import Foundation
import SidelightClient
import SidelightCodecs
import SidelightKernels

/// The frames of a Y4M file or pipe. Reading blocks a thread of a dispatch queue.
final class Y4MInput: VideoInput, @unchecked Sendable {  // one task reads, one call at a time
  let header: Y4MHeader
  private var reader: Y4MReader
  private var index = 0
  private let duration: Duration?
  private let queue = DispatchQueue(label: "sidelight.y4m-input")

  /// Opens the file and reads its header.
  ///
  /// - Parameters:
  ///   - path: The path; `-` is standard input.
  ///   - duration: The time after which reading ends, if any.
  /// - Throws: ``POSIXCallError``, or `CodecError` if the file is not Y4M.
  init(path: String, duration: Duration?) throws {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
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
    self.duration = duration
  }

  /// The duration of a frame.
  var timeBase: Rational {
    self.header.frameRate.flatMap { Rational($0.denominator, $0.numerator) }
      ?? Rational(1, 30).unsafelyUnwrapped
  }

  var count: Int? { nil }

  func next() async throws -> TimedPicture? {
    let time = Duration.seconds(
      Double(self.index) * Double(self.timeBase.numerator) / Double(self.timeBase.denominator))
    if let duration, time >= duration { return nil }
    guard let frame = try await self.queue.run({ try self.reader.next() }) else { return nil }
    self.index += 1
    return TimedPicture(picture: .frame(frame), time: time)
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

/// A Y4M file or pipe. Writing blocks a thread of a dispatch queue.
final class Y4MOutput: VideoOutput, @unchecked Sendable {  // one task writes, one call at a time
  private var writer: Y4MWriter?
  private var last: Frame?
  private let queue = DispatchQueue(label: "sidelight.y4m-output")

  /// Creates the output of a stream to an opened file.
  init(_ output: FileDescriptorOutput, header: Y4MHeader) {
    self.writer = Y4MWriter(header: header) { span in
      try span.withUnsafeBytes { bytes in try output.write(bytes) }
    }
  }

  func write(_ picture: VideoPicture, at time: Duration) async throws {
    guard let frame = picture.frame else { return }
    self.last = frame
    try await self.queue.run { try self.writer?.write(frame) }
  }

  /// Writes the last picture again: the times of Y4M follow from the number of pictures.
  func writeDropped() async throws {
    guard let last else { return }
    try await self.queue.run { try self.writer?.write(last) }
  }

  func finish() async throws {
    try await self.queue.run { try self.writer.take()?.finish() }
  }
}
