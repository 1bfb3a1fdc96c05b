/// Parses a Y4M stream in pieces of any length, without input and output.
///
///     stream = header-line *( frame-line samples )
///
/// The parser keeps at most one incomplete line of ``Y4MHeader/maxLineLength`` bytes. It does not
/// keep samples: events contain their offsets in the input.
///
/// States: *header* until its line is complete, then alternately *frame line* and *samples*. After
/// an error the parser must not be used again.
public struct Y4MParser: Sendable {
  /// An element of the stream.
  public enum Event: Sendable, Hashable {
    /// The header of the stream: the first event.
    case header(Y4MHeader)
    /// The start of a frame. Parameters of its line are ignored, since they do not affect the
    /// samples.
    case frameStart
    /// The offsets in the input of samples of the current frame: planes in order, rows from the
    /// top, without padding.
    case samples(Range<Int>)
    /// The end of a frame: all samples have been parsed.
    case frameEnd
  }

  private enum State: Sendable {
    case header
    case frameLine
    case samples(remaining: Int)
  }

  private static let headerPrefix = Array("YUV4MPEG2".utf8)
  private static let framePrefix = Array("FRAME".utf8)

  private let limits: ImageLimits
  private var state = State.header
  private var line: [UInt8] = []
  private var frameByteCount = 0
  private var frameCount = 0

  /// - Parameter limits: The maximum size of frames.
  public init(limits: ImageLimits = ImageLimits()) {
    self.limits = limits
  }

  /// Returns the next event.
  ///
  /// - Parameters:
  ///   - input: A piece of the stream.
  ///   - offset: The position in the piece, which moves past parsed bytes. Start a piece at 0, and
  ///     call until the result is `nil`.
  /// - Returns: `nil` at the end of the piece.
  /// - Throws: ``CodecError`` as ``Y4MHeader/init(line:)``, or with code `limitExceeded` for a size
  ///   or a line beyond the limits, or `corrupt` for an invalid frame line.
  public mutating func next(
    in input: RawSpan, from offset: inout Int
  ) throws(CodecError) -> Event? {
    switch self.state {
    case .header:
      guard try self.completeLine(input, &offset, name: "header", prefix: Self.headerPrefix) else {
        return nil
      }
      let header = try Y4MHeader(line: String(decoding: self.line, as: UTF8.self))
      try self.limits.check(header.size)
      self.line.removeAll(keepingCapacity: true)
      self.frameByteCount = header.frameByteCount
      self.state = .frameLine
      return .header(header)
    case .frameLine:
      guard try self.completeLine(input, &offset, name: "frame line", prefix: Self.framePrefix)
      else {
        return nil
      }
      // `FRAME`, or `FRAME` and parameters after a space.
      guard self.line.count == 5 || self.line[5] == UInt8(ascii: " ") else {
        throw CodecError(.corrupt, "frame \(self.frameCount) does not start with FRAME")
      }
      self.line.removeAll(keepingCapacity: true)
      self.state = .samples(remaining: self.frameByteCount)
      return .frameStart
    case .samples(remaining: 0):
      self.frameCount += 1
      self.state = .frameLine
      return .frameEnd
    case .samples(let remaining):
      let end = min(input.byteCount, offset + remaining)
      guard end > offset else { return nil }
      let samples = offset ..< end
      self.state = .samples(remaining: remaining - samples.count)
      offset = end
      return .samples(samples)
    }
  }

  /// Checks the end of the stream. Call it at the end of the input.
  ///
  /// - Throws: ``CodecError`` with code `truncated` unless the stream ends after a whole frame.
  public func finish() throws(CodecError) {
    switch self.state {
    case .header:
      throw CodecError(.truncated, "the stream ends after \(self.line.count) bytes of its header")
    case .frameLine where self.line.isEmpty, .samples(remaining: 0):
      return
    case .frameLine:
      throw CodecError(.truncated, "the stream ends within the line of frame \(self.frameCount)")
    case .samples(let remaining):
      throw CodecError(
        .truncated,
        "the stream ends \(remaining) bytes before the end of frame \(self.frameCount)")
    }
  }

  /// Appends bytes to the line up to its newline, which is dropped. A line with a wrong prefix is
  /// refused before its end.
  ///
  /// - Returns: Whether the line is complete.
  private mutating func completeLine(
    _ input: RawSpan, _ offset: inout Int, name: String, prefix: [UInt8]
  ) throws(CodecError) -> Bool {
    while offset < input.byteCount {
      let byte = input.byte(at: offset)
      offset += 1
      let index = self.line.count
      if index < prefix.count, byte != prefix[index] {
        if name == "header" {
          throw CodecError(.unknownFormat, "the stream does not start with YUV4MPEG2")
        }
        throw CodecError(.corrupt, "frame \(self.frameCount) does not start with FRAME")
      }
      if byte == UInt8(ascii: "\n") { return true }
      guard index < Y4MHeader.maxLineLength - 1 else {
        throw CodecError(
          .limitExceeded, "the \(name) has more than \(Y4MHeader.maxLineLength) bytes")
      }
      self.line.append(byte)
    }
    return false
  }
}
