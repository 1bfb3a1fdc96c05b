import Foundation
import SidelightClient
import SidelightCodecs
import SidelightKernels

/// The properties of a source's video, as ffprobe states them.
struct VideoProperties: Sendable {
  private struct Answer: Decodable {
    struct Stream: Decodable {
      struct SideData: Decodable {
        var rotation: Int?
      }
      var codec_name: String?
      var pix_fmt: String?
      var field_order: String?
      var has_b_frames: Int?
      var avg_frame_rate: String?
      var nb_frames: String?
      var duration: String?
      var color_space: String?
      var side_data_list: [SideData]?
    }
    struct Format: Decodable {
      var format_name: String
      var start_time: String?
      var duration: String?
    }
    var streams: [Stream]
    var format: Format
  }

  /// The formats that are read, by ffprobe's names.
  private static let formats: Set = [
    "mov", "matroska", "mpegts", "mpeg", "avi", "flv", "ogg", "asf", "mxf", "nut", "ivf",
    "yuv4mpegpipe", "rtsp", "video4linux2",
  ]

  /// The format of the encoded video, if the contract has it and it can be sent as it is: without
  /// rotation, 8 bits, 4:2:0, without B-frames.
  let encodedFormat: EncodedFormat?
  let frameRate: Rational?
  /// ffmpeg's name of the matrix, if known.
  let matrix: String?
  /// The time at which the source starts, in ffmpeg's notation.
  let start: String
  private let frameCount: Int?
  private let duration: Double?

  /// Asks ffprobe.
  ///
  /// - Throws: ``MediaError``, also for unknown formats, files without video, and interlaced video.
  init(of source: MediaSource) async throws {
    try await FFmpegTool.ffprobe.check()
    let entries =
      "stream=codec_name,pix_fmt,field_order,has_b_frames,avg_frame_rate,nb_frames,duration,"
      + "color_space:stream_side_data=rotation:format=format_name,start_time,duration"
    let text = try await FFmpegTool.ffprobe.output(
      ["-v", "error", "-select_streams", "V:0", "-show_entries", entries, "-of", "json"]
        + source.arguments)
    let answer = try JSONDecoder().decode(Answer.self, from: Data(text))
    let names = answer.format.format_name.split(separator: ",").map(String.init)
    guard !Self.formats.isDisjoint(with: names) else {
      throw MediaError(
        "'\(source.name)' is in an unknown format (\(answer.format.format_name)); it must be Y4M "
          + "(YUV4MPEG2), MP4, MOV, Matroska, WebM, MPEG-TS, AVI, FLV or Ogg.")
    }
    guard let stream = answer.streams.first else {
      throw MediaError("'\(source.name)' has no video stream.")
    }
    if let order = stream.field_order, !["progressive", "unknown"].contains(order) {
      throw MediaError(
        "'\(source.name)' is interlaced; deinterlace it first: ffmpeg -i … -vf yadif …")
    }
    let rotation = stream.side_data_list?.compactMap(\.rotation).first ?? 0
    let canBeSent =
      rotation == 0 && stream.has_b_frames ?? 0 == 0
      && ["yuv420p", "yuvj420p"].contains(stream.pix_fmt)
    self.encodedFormat =
      canBeSent ? stream.codec_name.flatMap { EncodedFormat(rawValue: $0) } : nil
    self.frameRate = stream.avg_frame_rate.flatMap { Self.ratio($0) }
    self.matrix = stream.color_space.flatMap { $0 == "unknown" ? nil : $0 }
    self.start = answer.format.start_time.flatMap { $0 == "N/A" ? nil : $0 } ?? "0"
    self.frameCount = stream.nb_frames.flatMap { Int($0) }
    self.duration = (stream.duration ?? answer.format.duration).flatMap { Double($0) }
  }

  /// Returns the approximate number of frames, if known.
  func count(within limit: Duration?) -> Int? {
    guard let rate = self.frameRate?.value else { return limit == nil ? self.frameCount : nil }
    let count = self.frameCount ?? self.duration.map { Int($0 * rate) }
    guard let limit else { return count }
    let limited = Int((limit / .seconds(1) * rate).rounded(.up))
    return count.map { min($0, limited) } ?? limited
  }

  private static func ratio(_ text: String) -> Rational? {
    let parts = text.split(separator: "/").compactMap { Int($0) }
    return parts.count == 2 ? Rational(parts[0], parts[1]) : nil
  }
}

/// The pictures of a container, a server or a camera, which ffmpeg reads: decoded and upright, or as
/// they are encoded.
final class ContainerInput: VideoInput, @unchecked Sendable {  // one task reads, one call at a time
  let header: Y4MHeader
  let timeBase: Rational
  let count: Int?
  /// The format in which pictures are sent; `nil` for samples.
  let encodedFormat: EncodedFormat?
  private let process: FFmpegProcess
  /// The time of the source at which the video starts, in seconds.
  private let start: Double
  private let geometry: FrameGeometry
  private let pool = BufferPool()
  private var reader: NUTReader

  /// Starts to read.
  ///
  /// - Parameters:
  ///   - isEncoded: Whether pictures are read as they are encoded.
  ///   - duration: The time after which reading ends, if any.
  /// - Throws: ``MediaError``; `CodecError`.
  init(
    _ source: MediaSource, _ properties: VideoProperties, isEncoded: Bool, duration: Duration?
  ) async throws {
    let encodedFormat = isEncoded ? properties.encodedFormat : nil
    var arguments = ["-nostdin", "-hide_banner", "-loglevel", "error"]
    // A file's own times, which its audio has too; a live source begins with 0.
    if source.kind == .file { arguments.append("-copyts") }
    if let duration { arguments += ["-t", "\(duration / .seconds(1))"] }
    arguments += source.arguments + ["-map", "0:V:0"]
    switch encodedFormat {
    case .h264?: arguments += ["-c:v", "copy", "-bsf:v", "h264_mp4toannexb"]
    case .some: arguments += ["-c:v", "copy"]
    case nil:
      arguments += ["-fps_mode", "passthrough", "-enc_time_base", "-1"]
      arguments += ["-c:v", "rawvideo", "-pix_fmt", "yuv420p"]
    }
    arguments += ["-flush_packets", "1", "-f", "nut", "pipe:1"]
    let process = try FFmpegProcess(.ffmpeg, arguments, output: true)
    do {
      self.reader = try await process.reading { try NUTReader { try process.read($0) } }
    } catch let error as CodecError {
      process.terminate()
      // Its own error, if it has one, says more than the lack of a header.
      try await process.finish()
      throw error
    }
    let stream = self.reader.stream
    self.process = process
    self.timeBase = stream.timeBase
    self.start = source.kind == .file ? Double(properties.start) ?? 0 : 0
    self.count = properties.count(within: duration)
    self.encodedFormat = encodedFormat
    self.header = Y4MHeader(
      size: stream.size, frameRate: properties.frameRate, chroma: .mpeg2, range: .video,
      pixelAspect: stream.pixelAspect)
    let matrices: [String: YUVMatrix] = [
      "bt709": .bt709, "smpte170m": .bt601, "bt470bg": .bt601,
    ]
    self.geometry = self.header.geometry(matrix: properties.matrix.flatMap { matrices[$0] })
  }

  deinit { self.process.terminate() }

  func next() async throws -> TimedPicture? {
    do {
      let picture = try await self.process.reading {
        try self.reader.next().map { try self.picture($0) }
      }
      if picture == nil, let message = try await self.process.finish() {
        FileDescriptorOutput.standardError.write("Warning: ffmpeg: \(message)\n")
      }
      return picture
    } catch let error as CodecError where error.code == .truncated {
      // ffmpeg was ended; its own error says more.
      try await self.process.finish()
      throw error
    }
  }

  private func picture(_ packet: NUTPacket) throws -> TimedPicture {
    let seconds = max(0, Double(packet.time) * self.timeBase.value - self.start)
    let picture: VideoPicture =
      if let encodedFormat {
        .encoded(EncodedFrame(encodedFormat, packet.bytes, isKeyFrame: packet.isKeyFrame))
      } else {
        .frame(try self.frame(packet.bytes))
      }
    return TimedPicture(picture: picture, time: .seconds(seconds))
  }

  private func frame(_ bytes: [UInt8]) throws -> Frame {
    guard bytes.count == self.header.frameByteCount else {
      throw CodecError(
        .corrupt, "a picture has \(bytes.count) bytes, not \(self.header.frameByteCount)")
    }
    var frame = try self.pool.makeFrame(self.geometry)
    let (format, size) = (self.geometry.format, self.geometry.size)
    var offset = 0
    for plane in 0 ..< format.planeCount {
      let length = format.rowByteCount(plane: plane, width: size.width)
      for row in 0 ..< format.rowCount(plane: plane, height: size.height) {
        frame.withMutableRow(row, plane: plane) { target in
          target.withUnsafeMutableBytes { $0.copyBytes(from: bytes[offset ..< offset + length]) }
        }
        offset += length
      }
    }
    return frame.finish()
  }
}
