import SidelightClient
import SidelightCodecs
import SidelightKernels

/// A container, which ffmpeg writes: it encodes samples, and copies encoded video and the audio of
/// the input.
final class ContainerOutput: VideoOutput, @unchecked Sendable {  // one task writes
  /// The properties of the container.
  struct Settings: Sendable {
    let container: VideoContainer
    /// The duration of a tick in seconds.
    let timeBase: Rational
    var pixelAspect: Rational?
    /// ffmpeg's name of the matrix, if known.
    var matrix: String?
    /// The file whose audio is copied, and the time at which it starts.
    var audio: (source: MediaSource, start: String)?
    /// The time after which the audio ends, if any.
    var duration: Duration?
  }

  private let settings: Settings
  private let file: FileDescriptorOutput
  private var process: FFmpegProcess?
  private var writer: NUTWriter?
  private var stream: NUTStream?

  /// - Parameters:
  ///   - file: The file to write, which is open for reading too.
  ///   - settings: The properties.
  init(_ file: FileDescriptorOutput, _ settings: Settings) {
    self.file = file
    self.settings = settings
  }

  deinit { self.process?.terminate() }

  /// Writes a picture. The first one decides on size and format.
  ///
  /// - Throws: ``MediaError``; `CodecError` if size or format change.
  func write(_ picture: VideoPicture, at time: Duration) async throws {
    let (fourCC, size) = try Self.form(of: picture)
    let stream = NUTStream(
      fourCC: fourCC, size: size, pixelAspect: self.settings.pixelAspect,
      timeBase: self.settings.timeBase)
    if self.stream == nil {
      self.process = try FFmpegProcess(
        .ffmpeg, self.arguments(isEncoded: picture.encoded != nil), input: true, file: self.file)
      self.stream = stream
    }
    guard self.stream == stream, let process else {
      throw CodecError(
        .invalidOption,
        "A picture is \(fourCC) of \(size), and those before \(self.stream?.fourCC ?? "") of "
          + "\(self.stream?.size ?? size); a container has one form of video.")
    }
    let ticks = time / .seconds(1) / self.settings.timeBase.value
    try await process.writing { output in
      var writer = self.writer.take() ?? NUTWriter(stream) { try output.write($0) }
      try writer.append(Self.packet(picture, time: Int(ticks.rounded())))
      self.writer = writer
    }
  }

  /// Leaves the picture before on the screen, as its time does.
  func writeDropped() {}

  func finish() async throws {
    guard let process else { throw MediaError("No picture came back.") }
    if let message = try await process.finish() {
      FileDescriptorOutput.standardError.write("Warning: ffmpeg: \(message)\n")
    }
  }

  private func arguments(isEncoded: Bool) -> [String] {
    var arguments = ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"]
    // Times stay as they are, and the audio's start at the same 0 as the pictures'.
    arguments.append("-copyts")
    if let matrix = self.settings.matrix, !isEncoded {
      arguments += ["-colorspace", matrix, "-color_range", "tv"]
    }
    arguments += ["-f", "nut", "-i", "pipe:0"]
    if let (source, start) = self.settings.audio {
      if let duration = self.settings.duration {
        arguments += ["-t", "\(duration / .seconds(1))"]
      }
      arguments += ["-itsoffset", start.hasPrefix("-") ? "\(start.dropFirst())" : "-\(start)"]
      arguments += source.arguments + ["-map", "1:a?", "-c:a", "copy"]
    }
    arguments += ["-map", "0:v"]
    if isEncoded {
      arguments += ["-c:v", "copy"]
    } else {
      arguments += ["-fps_mode", "passthrough", "-enc_time_base", "-1", "-pix_fmt", "yuv420p"]
      // Its default takes seconds for a frame of 1080p.
      if self.settings.container == .webm {
        arguments += ["-deadline", "realtime", "-cpu-used", "6"]
      }
    }
    return arguments + ["-f", self.settings.container.format, FFmpegProcess.filePath]
  }

  private static func form(of picture: VideoPicture) throws -> (fourCC: String, size: FrameSize) {
    switch picture {
    case .frame(let frame) where frame.format == .i420: return ("I420", frame.size)
    case .frame(let frame) where frame.format == .gray8: return ("Y800", frame.size)
    case .encoded(let frame):
      let names: [EncodedFormat: String] = [.h264: "H264", .vp8: "VP80", .vp9: "VP90"]
      guard let name = names[frame.format], let size = frame.size else { break }
      return (name, size)
    default: break
    }
    throw CodecError(.unsupported, "A picture came back in a format that no container has.")
  }

  private static func packet(_ picture: VideoPicture, time: Int) -> NUTPacket {
    switch picture {
    case .encoded(let frame):
      return NUTPacket(bytes: frame.bytes, time: time, isKeyFrame: frame.isKeyFrame)
    case .frame(let frame):
      var bytes: [UInt8] = []
      for plane in 0 ..< frame.format.planeCount {
        for row in 0 ..< frame.format.rowCount(plane: plane, height: frame.size.height) {
          frame.withRow(row, plane: plane) { row in
            row.withUnsafeBytes { bytes.append(contentsOf: $0) }
          }
        }
      }
      return NUTPacket(bytes: bytes, time: time)
    case .jpeg(let bytes, _): return NUTPacket(bytes: bytes, time: time)
    // Only sessions with named outputs have such results.
    case .omitted: return NUTPacket(bytes: [], time: time)
    }
  }
}
