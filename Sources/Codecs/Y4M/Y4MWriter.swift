public import SidelightKernels

/// Writes frames as a Y4M stream. A closure writes its bytes.
///
/// Blocks only in that closure. A call receives a whole frame with its line, the first one also the
/// header. After an error the writer must not be used again.
public struct Y4MWriter: ~Copyable, Sendable {
  /// Writes all of the given bytes of the stream.
  public typealias Write = @Sendable (RawSpan) throws -> Void

  /// The header of the stream.
  public let header: Y4MHeader

  private let write: Write
  private var hasHeader = false
  private var staged: [UInt8] = []

  /// - Parameters:
  ///   - header: The header of the stream. It is written with the first frame.
  ///   - write: Writes bytes of the stream.
  public init(header: Y4MHeader, write: @escaping Write) {
    self.header = header
    self.write = write
  }

  /// Writes a frame.
  ///
  /// - Throws: ``CodecError`` with code `invalidOption` if format, size or range of the frame
  ///   differ from the header; or the error of the `write` closure.
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

  /// Ends the stream. Writes the header if the stream has no frames, which makes it valid.
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
