public import SidelightKernels

/// Writes frames as a Y4M stream, to wherever its bytes go.
///
/// Blocks in the given closure, and nowhere else. Each call of it gets one whole frame with its
/// line; the header comes with the first. After an error the writer must not be used again.
public struct Y4MWriter: ~Copyable, Sendable {
  /// Takes the next bytes of the stream, all of them.
  public typealias Write = @Sendable (RawSpan) throws -> Void

  /// The stream's header.
  public let header: Y4MHeader

  private let write: Write
  private var hasHeader = false
  private var staged: [UInt8] = []

  /// - Parameters:
  ///   - header: The stream's header. Nothing is written yet.
  ///   - write: Takes the stream's bytes.
  public init(header: Y4MHeader, write: @escaping Write) {
    self.header = header
    self.write = write
  }

  /// Writes a frame.
  ///
  /// - Throws: ``CodecError`` with code `invalidOption` for a frame of another format, size or
  ///   range than the header states; or what the `write` closure throws.
  public mutating func write(_ frame: Frame) throws {
    try self.check(frame)
    self.stageHeader()
    self.staged += "FRAME\n".utf8
    for plane in 0 ..< frame.format.planeCount {
      for row in 0 ..< frame.format.rowCount(plane: plane, height: frame.size.height) {
        frame.withRow(row, plane: plane) { bytes in
          unsafe bytes.withUnsafeBytes { unsafe self.staged.append(contentsOf: $0) }
        }
      }
    }
    try self.flush()
  }

  /// Ends the stream: writes the header if there was no frame, so that the stream is a stream.
  public consuming func finish() throws {
    self.stageHeader()
    if !self.staged.isEmpty { try self.flush() }
  }

  private mutating func stageHeader() {
    guard !self.hasHeader else { return }
    self.hasHeader = true
    self.staged += self.header.line.utf8
    self.staged.append(UInt8(ascii: "\n"))
  }

  private mutating func flush() throws {
    try unsafe self.write(self.staged.span.bytes)
    self.staged.removeAll(keepingCapacity: true)
  }

  private func check(_ frame: Frame) throws(CodecError) {
    let expected = self.header.geometry()
    guard frame.format == expected.format else {
      throw CodecError(
        .invalidOption,
        "the frame is \(frame.format.rawValue), the stream \(expected.format.rawValue)")
    }
    guard frame.size == expected.size else {
      throw CodecError(.invalidOption, "the frame is \(frame.size), the stream \(expected.size)")
    }
    guard !frame.format.isYUV || frame.color.range == expected.color.range else {
      throw CodecError(
        .invalidOption,
        "the frame has \(frame.color.range) range, the stream \(expected.color.range)")
    }
  }
}
