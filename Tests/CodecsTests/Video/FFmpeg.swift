import Foundation
import SidelightCodecs
import SidelightKernels

/// Streams of ffmpeg, and its decoding of them.
enum FFmpeg {
  static let isInstalled = (try? Self.run("ffprobe", ["-version"])) != nil

  /// The access units of a test video.
  ///
  /// - Parameter options: The encoder and its options.
  static func units(
    _ codec: VideoCodec, _ size: FrameSize, frames: Int = 24, _ options: String
  ) throws -> [[UInt8]] {
    let bytes = try Self.encoded(codec, size, frames: frames, options)
    return codec == .h264 ? Self.accessUnits(bytes) : Self.framesOfIVF(bytes)
  }

  /// The file of a test video: H.264 with delimiters, or IVF.
  static func encoded(
    _ codec: VideoCodec, _ size: FrameSize, frames: Int = 24, _ options: String
  ) throws -> [UInt8] {
    let source = "testsrc=size=\(size):rate=30"
    let format = codec == .h264 ? "-bsf:v h264_metadata=aud=insert -f h264" : "-f ivf"
    let pixels = options.contains("-pix_fmt") ? "" : "-pix_fmt yuv420p "
    let arguments = "\(pixels)\(options) \(format)".split(separator: " ").map(String.init)
    return try Self.run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", source, "-frames:v", "\(frames)", "-threads", "1"]
        + arguments + ["-"])
  }

  /// The pictures that ffmpeg decodes from a file, as packed I420.
  static func decoded(_ file: [UInt8], _ codec: VideoCodec, _ size: FrameSize) throws -> [[UInt8]] {
    let format = codec == .h264 ? "h264" : "ivf"
    let bytes = try Self.withFile(file) { path in
      try Self.run(
        "ffmpeg",
        ["-v", "error", "-f", format, "-i", path, "-vsync", "0", "-f", "rawvideo", "-"])
    }
    let count =
      size.pixelCount + 2 * ((size.width + 1) / 2) * ((size.height + 1) / 2)
    return stride(from: 0, to: bytes.count, by: count).map { Array(bytes[$0 ..< $0 + count]) }
  }

  /// The facts that ffprobe prints about a file.
  static func probe(_ file: [UInt8], _ codec: VideoCodec, _ entries: String) throws -> [String] {
    let format = codec == .h264 ? "h264" : "ivf"
    let output = try Self.withFile(file) { path in
      try Self.run(
        "ffprobe", ["-v", "error", "-f", format, "-show_entries", entries, "-of", "csv=p=0", path])
    }
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Splits H.264 at its delimiters.
  private static func accessUnits(_ bytes: [UInt8]) -> [[UInt8]] {
    let starts = bytes.indices.dropLast(5).filter {
      bytes[$0 ..< $0 + 4] == [0, 0, 0, 1] && bytes[$0 + 4] & 31 == 9
    }
    return zip(starts, starts.dropFirst() + [bytes.count]).map { Array(bytes[$0 ..< $1]) }
  }

  private static func framesOfIVF(_ bytes: [UInt8]) -> [[UInt8]] {
    var (result, offset): ([[UInt8]], Int) = ([], 32)
    while offset + 12 <= bytes.count {
      let size = (0 ..< 4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      result.append(Array(bytes[offset + 12 ..< offset + 12 + size]))
      offset += 12 + size
    }
    return result
  }

  private static func withFile<Result>(
    _ bytes: [UInt8], _ body: (String) throws -> Result
  ) throws -> Result {
    let file = Self.temporaryFile()
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try body(file.path)
  }

  struct Failure: Error {
    let status: Int32
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program, "-hide_banner"] + arguments
    let file = Self.temporaryFile()
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    process.standardOutput = try FileHandle(forWritingTo: file)
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
    return [UInt8](try Data(contentsOf: file))
  }

  private static func temporaryFile() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("sidelight-\(UUID().uuidString)")
  }
}
