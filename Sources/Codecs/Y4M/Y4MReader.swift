public import SidelightKernels

/// Reads the frames of a Y4M stream one at a time. A closure reads its bytes.
///
/// Blocks only in that closure. After an error of the closure or a ``CodecError`` the reader must
/// not be used again.
public struct Y4MReader: ~Copyable, Sendable {
  /// Reads bytes of the stream to the start of the span, and returns their number; 0 at the end of
  /// the stream.
  public typealias Read = @Sendable (inout MutableRawSpan) throws -> Int

  /// The header of the stream.
  public let header: Y4MHeader
  /// The geometry of the frames.
  public let geometry: FrameGeometry

  private let pool: BufferPool
  private let read: Read
  private var parser: Y4MParser
  private var chunk: [UInt8]
  private var consumed = 0
  private var available = 0

  private static let chunkLength = 256 << 10

  /// Reads the header.
  ///
  /// - Parameters:
  ///   - pool: The pool of the frames' buffers.
  ///   - limits: The maximum size of frames.
  ///   - matrix: The matrix, which Y4M does not state. `nil` derives it from the height, see
  ///     ``Y4MHeader/geometry(matrix:)``.
  ///   - read: Reads bytes of the stream.
  /// - Throws: ``CodecError`` as ``Y4MParser``, with code `truncated` if the stream ends within its
  ///   header; or the error of `read`.
  public init(
    pool: BufferPool, limits: ImageLimits = ImageLimits(), matrix: YUVMatrix? = nil,
    read: @escaping Read
  ) throws {
    var parser = Y4MParser(limits: limits)
    var chunk = [UInt8](repeating: 0, count: Self.chunkLength)
    var consumed = 0
    var available = 0
    var header: Y4MHeader?
    while header == nil {
      consumed = 0
      available = try Self.fill(&chunk, read)
      if available == 0 { try parser.finish() }
      let input = unsafe chunk.span.bytes.extracting(first: available)
      if case .header(let found) = try parser.next(in: input, from: &consumed) { header = found }
    }
    guard let header else { throw CodecError(.truncated, "the stream has no header") }
    self.header = header
    self.geometry = header.geometry(matrix: matrix)
    self.pool = pool
    self.read = read
    self.parser = parser
    self.chunk = chunk
    self.consumed = consumed
    self.available = available
  }

  /// Returns the next frame. `nil` at the end of the stream.
  ///
  /// - Throws: ``CodecError`` as ``Y4MParser``, with code `truncated` if the stream ends within a
  ///   frame; or the error of the `read` closure.
  public mutating func next() throws -> Frame? {
    var filler: FrameFiller?
    while true {
      switch try self.nextEvent(filling: &filler) {
      case .header, .samples:
        continue
      case .frameStart:
        do {
          filler = FrameFiller(try self.pool.makeFrame(self.geometry))
        } catch {
          throw CodecError(.limitExceeded, error.description)
        }
      case .frameEnd:
        return filler.take()?.finish()
      case nil:
        self.available = try Self.fill(&self.chunk, self.read)
        self.consumed = 0
        guard self.available > 0 else {
          try self.parser.finish()
          return nil
        }
      }
    }
  }

  private mutating func nextEvent(
    filling filler: inout FrameFiller?
  ) throws(CodecError) -> Y4MParser.Event? {
    // A second reference, to read the bytes while the position changes. It is released before the
    // chunk is filled again, which avoids a copy.
    let chunk = self.chunk
    let input = unsafe chunk.span.bytes.extracting(first: self.available)
    let event = try self.parser.next(in: input, from: &self.consumed)
    if case .samples(let range) = event { filler?.append(input.extracting(range)) }
    return event
  }

  private static func fill(_ chunk: inout [UInt8], _ read: Read) throws -> Int {
    var span = chunk.mutableSpan
    var bytes = unsafe span.mutableBytes
    let count = try read(&bytes)
    precondition((0 ... bytes.byteCount).contains(count), "read more than there was room for")
    return count
  }
}

/// Fills a frame with samples without padding, in pieces of any length.
private struct FrameFiller: ~Copyable {
  private var frame: MutableFrame
  private var plane = 0
  private var row = 0
  private var column = 0

  init(_ frame: consuming MutableFrame) {
    self.frame = frame
  }

  /// Appends samples. Samples beyond the end of the frame are ignored.
  mutating func append(_ samples: RawSpan) {
    let layout = self.frame.layout
    var offset = 0
    while offset < samples.byteCount, self.plane < layout.planes.count {
      let rowLength = layout.format.rowByteCount(plane: self.plane, width: layout.size.width)
      let count = min(rowLength - self.column, samples.byteCount - offset)
      let column = self.column
      self.frame.withMutableRow(self.row, plane: self.plane) { bytes in
        unsafe bytes.withUnsafeMutableBytes { target in
          unsafe samples.withUnsafeBytes { source in
            unsafe target.baseAddress.unsafelyUnwrapped.advanced(by: column).copyMemory(
              from: source.baseAddress.unsafelyUnwrapped.advanced(by: offset), byteCount: count)
          }
        }
      }
      offset += count
      self.column += count
      if self.column == rowLength { self.startRow() }
    }
  }

  /// Returns the frame.
  consuming func finish() -> Frame {
    self.frame.finish()
  }

  private mutating func startRow() {
    let layout = self.frame.layout
    self.column = 0
    self.row += 1
    if self.row == layout.format.rowCount(plane: self.plane, height: layout.size.height) {
      self.row = 0
      self.plane += 1
    }
  }
}
