import Dispatch
import Foundation
import SidelightSupervisor
import Synchronization

/// The error of ffmpeg or ffprobe, or of a video that they read.
struct MediaError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The programs of FFmpeg that read and write containers, as subprocesses: its libraries have other
/// licences than this command.
enum FFmpegTool: String {
  case ffmpeg
  case ffprobe

  /// Checks that the program is installed, by its answer to `-version`.
  ///
  /// - Throws: ``MediaError``.
  func check() async throws {
    let answer = try? await self.output(["-version"])
    guard let answer, answer.starts(with: "\(self) version ".utf8) else {
      throw MediaError(
        "Other formats than Y4M (YUV4MPEG2) need \(self), version 5.1 or later, which is not "
          + "installed.")
    }
  }

  /// Runs the program, and returns its output.
  ///
  /// - Throws: ``MediaError``; ``POSIXCallError``.
  func output(_ arguments: [String]) async throws -> [UInt8] {
    let process = try FFmpegProcess(self, arguments, output: true)
    let output = try await process.readToEnd()
    try await process.finish()
    return output
  }
}

/// A running program of FFmpeg. Reading, writing and waiting block threads of dispatch queues.
final class FFmpegProcess: @unchecked Sendable {  // one task reads, one writes, each in turn
  private struct State {
    /// `nil` after the end.
    var id: pid_t?
    var end: WorkerEnd?
    /// The last lines of its standard error.
    var messages: [String] = []
  }

  private let tool: FFmpegTool
  private let state: Mutex<State>
  private let input: FileDescriptorOutput?
  private let output: Int32?
  private let reading = DispatchQueue(label: "sidelight.ffmpeg-output")
  private let writing = DispatchQueue(label: "sidelight.ffmpeg-input")
  /// Waits for the end of the program, then runs what waits for it.
  private let ending = DispatchQueue(label: "sidelight.ffmpeg-end")

  /// The path under which a file of this process is open in the program.
  static let filePath = "/dev/fd/3"

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - tool: The program.
  ///   - input: Whether this process writes its standard input.
  ///   - output: Whether this process reads its standard output.
  ///   - file: An open file, which it finds at ``filePath``.
  /// - Throws: ``POSIXCallError``; the error of a program that cannot be started.
  init(
    _ tool: FFmpegTool, _ arguments: [String], input: Bool = false, output: Bool = false,
    file: FileDescriptorOutput? = nil
  ) throws {
    // A program that has ended is reported by `write`, not by a signal.
    signal(SIGPIPE, SIG_IGN)
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    let standardInput = input ? try Self.pipe() : (read: null, write: null)
    let standardOutput = output ? try Self.pipe() : (read: null, write: null)
    let standardError = try Self.pipe()
    defer {
      if input { close(standardInput.read) }
      if output { close(standardOutput.write) }
      close(standardError.write)
    }
    var descriptors: [Int32: Int32] = [
      0: standardInput.read, 1: standardOutput.write, 2: standardError.write,
    ]
    descriptors[3] = file?.descriptor
    let program = Program(
      path: tool.rawValue, arguments: [tool.rawValue] + arguments,
      environment: ProcessInfo.processInfo.environment)
    // This process ends where the program cannot be started, and then closes the pipes.
    let id = try program.start(descriptors: descriptors)
    self.tool = tool
    self.input = input ? FileDescriptorOutput(descriptor: standardInput.write) : nil
    self.output = output ? standardOutput.read : nil
    self.state = Mutex(State(id: id))
    self.ending.async { self.waitForEnd(id, messages: standardError.read) }
  }

  /// Records the messages of the program until its end.
  private func waitForEnd(_ id: pid_t, messages: Int32) {
    if let stream = fdopen(messages, "r") {
      var line: UnsafeMutablePointer<CChar>?
      var capacity = 0
      while getline(&line, &capacity, stream) > 0, let line {
        // Without the component and its address: `[nut @ 0x5581] text`.
        let text = String(cString: line).replacing(/^\[.* @ 0x[0-9a-f]+\] */, with: "")
          .trimmingCharacters(in: .whitespacesAndNewlines)
        if !text.isEmpty {
          self.state.withLock { $0.messages = $0.messages.suffix(2) + [text] }
        }
      }
      free(line)
      fclose(stream)
    }
    var info = siginfo_t()
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    // From here on the ID may be another process's.
    self.state.withLock { state in
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
      state.end = WorkerEnd(status: status)
      state.id = nil
    }
  }

  /// Ends the program, if it runs.
  func terminate() {
    self.state.withLock { state in
      if let id = state.id { kill(id, SIGKILL) }
    }
  }

  /// Reads bytes of its output, and blocks. Returns 0 at the end.
  ///
  /// - Throws: ``POSIXCallError``.
  func read(_ bytes: UnsafeMutableRawBufferPointer) throws(POSIXCallError) -> Int {
    guard let output else { return 0 }
    while true {
      let count = Foundation.read(output, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw POSIXCallError(call: "read", code: errno) }
    }
  }

  /// Runs a closure that reads.
  func reading<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result { try await self.reading.run(body) }

  /// Runs a closure that writes its input. If the program has ended, its error is thrown.
  func writing(_ body: @escaping @Sendable (FileDescriptorOutput) throws -> Void) async throws {
    guard let input else { return }
    do {
      try await self.writing.run { try body(input) }
    } catch let error as POSIXCallError where error.code == EPIPE {
      try await self.finish()
      throw MediaError("\(self.tool) has ended too early")
    }
  }

  /// Returns the rest of its output.
  func readToEnd() async throws -> [UInt8] {
    try await self.reading {
      var bytes: [UInt8] = []
      while true {
        let chunk = try [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
          count = try self.read(UnsafeMutableRawBufferPointer(buffer))
        }
        if chunk.isEmpty { return bytes }
        bytes += chunk
      }
    }
  }

  /// Closes its input, and waits for its end.
  ///
  /// - Returns: The last lines of its standard error, `nil` if there are none.
  /// - Throws: ``MediaError`` with these lines if it has failed.
  @discardableResult
  func finish() async throws -> String? {
    if let input { try await self.writing.run { _ = close(input.descriptor) } }
    let (end, messages) = try await self.ending.run {
      self.state.withLock { ($0.end, $0.messages.joined(separator: "; ")) }
    }
    guard end == .exited(0) else {
      // A signal comes from outside, whatever it has said before.
      let isKilled = if case .signalled? = end { true } else { false }
      let reasons = [isKilled || messages.isEmpty ? end.map { "\($0)" } ?? "" : "", messages]
      throw MediaError("\(self.tool): " + reasons.filter { !$0.isEmpty }.joined(separator: ": "))
    }
    return messages.isEmpty ? nil : messages
  }

  private static func pipe() throws(POSIXCallError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard Foundation.pipe(&ends) == 0 else { throw POSIXCallError(call: "pipe", code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
