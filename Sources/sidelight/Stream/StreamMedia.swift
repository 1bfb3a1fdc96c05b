import ArgumentParser
import SidelightClient
import SidelightCodecs

/// A picture of a video, and its time from the start.
struct TimedPicture: Sendable {
  let picture: VideoPicture
  let time: Duration
}

/// A video to read: pictures in the order of their times.
protocol VideoInput: Sendable {
  /// The stream as Y4M: its size, frame rate and pixels' shape.
  var header: Y4MHeader { get }
  /// The duration of a tick in seconds, of which all times are multiples.
  var timeBase: Rational { get }
  /// The approximate number of pictures, if known.
  var count: Int? { get }

  /// Returns the next picture, `nil` at the end.
  func next() async throws -> TimedPicture?
}

/// A video to write.
protocol VideoOutput: Sendable {
  /// Writes the next picture.
  func write(_ picture: VideoPicture, at time: Duration) async throws

  /// Records that a picture was dropped.
  func writeDropped() async throws

  /// Completes the video.
  func finish() async throws
}

/// A container to write, by the extension of its file.
enum VideoContainer: String, CaseIterable {
  case mp4, m4v, mov, mkv, webm

  /// - Returns: `nil` for Y4M: the extension `y4m`, files without an extension, and pipes.
  /// - Throws: `ValidationError` for other extensions, and for pipes that are named as containers.
  init?(output path: String) throws {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    let suffix = name[name.index(after: dot)...].lowercased()
    guard let container = VideoContainer(rawValue: suffix) else {
      if suffix == "y4m" || FileLocation.isPipe(path) { return nil }
      let known = Self.allCases.map { ".\($0)" }.joined(separator: ", ")
      throw ValidationError(
        "'\(path)' is in an unknown format; its name must end in .y4m, \(known).")
    }
    guard !FileLocation.isPipe(path) else {
      throw ValidationError("'\(path)' is a pipe or a device; a container needs a file.")
    }
    self = container
  }

  /// The name of its format in ffmpeg.
  var format: String { self == .mkv ? "matroska" : self == .m4v ? "mp4" : self.rawValue }

  /// The formats of video that it holds, of those that servers encode.
  var codecs: [EncodedFormat] {
    switch self {
    case .mp4, .m4v: [.h264, .vp9]
    case .mov: [.h264]
    case .mkv: [.h264, .vp8, .vp9]
    case .webm: [.vp8, .vp9]
    }
  }
}

/// A source of video that ffmpeg reads.
struct MediaSource: Sendable, Hashable {
  /// The kind of source.
  enum Kind: Hashable {
    /// A container in a file.
    case file
    /// A camera or a server that sends in real time.
    case live
  }

  let kind: Kind
  /// The path or the address.
  let name: String
  /// The arguments of ffmpeg and ffprobe.
  let arguments: [String]

  /// The name without the password of an address, for operators.
  var label: String {
    guard self.kind == .live, let at = self.name.lastIndex(of: "@"),
      let scheme = self.name.firstRange(of: "://")
    else { return self.name }
    return String(
      self.name[..<scheme.upperBound] + self.name[self.name.index(after: at)...])
  }

  /// - Returns: `nil` for Y4M: `-`, pipes, and files that end in .y4m or begin as Y4M.
  /// - Throws: ``POSIXCallError`` for a file that cannot be read.
  init?(input name: String) throws(POSIXCallError) {
    self.name = name
    if name.hasPrefix("rtsp://") || name.hasPrefix("rtsps://") {
      self.kind = .live
      // Over TCP no packet is lost. A server that doesn't answer for 10 s is reported.
      self.arguments = ["-rtsp_transport", "tcp", "-timeout", "10000000", "-i", name]
    } else if name.hasPrefix("/dev/video") {
      self.kind = .live
      self.arguments = ["-f", "v4l2", "-i", name]
    } else {
      guard !name.lowercased().hasSuffix(".y4m"), !FileLocation.isPipe(name) else { return nil }
      guard try !FileContents.starts(name, with: "YUV4MPEG2") else { return nil }
      self.kind = .file
      // A file must not make ffmpeg open another one, or an address.
      self.arguments = ["-protocol_whitelist", "file", "-i", "file:\(name)"]
    }
  }
}
