/// Reads a Y4M stream in whatever pieces it comes: bytes in, events out, nothing else.
///
///     stream = header-line *( frame-line samples )
///
/// The parser keeps at most one unfinished line of ``Y4MHeader/maxLineLength`` bytes. Samples are
/// not kept at all: events say where they lie in the input.
///
/// States: *header* until its line is whole, then *frame line* and *samples* in turn. After an
/// error the parser must not be used again.
public struct Y4MParser: Sendable {
  /// What was found.
  public enum Event: Sendable, Hashable {
    /// The stream's header; once, first.
    case header(Y4MHeader)
    /// A frame begins. Parameters of its line are passed over: none changes the samples.
    case frameStart
    /// Samples of the current frame lie at these offsets of the input: planes one after another,
    /// rows from the top, without padding.
    case samples(Range<Int>)
    /// All samples of the frame have been seen.
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

  /// - Parameter limits: How large frames may be.
  public init(limits: ImageLimits = ImageLimits()) {
    self.limits = limits
  }

  /// The next event.
  ///
  /// - Parameters: - input: A piece of the stream. - offset: Where in the piece to go on; moved
  ///   past what was consumed. Start each piece at 0, and
  ///     call until the answer is `nil`.
  /// - Returns: `nil` if the piece is used up.
  /// - Throws: ``CodecError``: a header as in ``Y4MHeader/init(line:)``, `limitExceeded` for a size
  ///   beyond the limits, `corrupt` for a line that is too long or no frame line.
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

  /// To be called where the stream ends.
  ///
  /// - Throws: ``CodecError`` with code `truncated` if that is not between two frames.
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

  /// Moves bytes to the line until its newline, which is dropped.
  ///
  /// A line that does not begin as it should is refused at once, before its end is seen.
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
