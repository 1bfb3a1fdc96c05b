import SidelightKernels
import SidelightWire
import Synchronization

/// The arrangement of other sessions' results in one picture: a valid `Composition` message.
struct Composition: Sendable {
  /// A track of the caller: the newest session with the names.
  struct Source: Sendable, Hashable {
    /// The participant, or empty for the caller itself.
    var participant: String
    var label: String
  }

  /// The size of the composed picture.
  let size: FrameSize
  /// The time from a frame to the next.
  let interval: Duration
  /// The fit of a result into its cell.
  let fit: PictureFit
  let sources: [Source]
  /// The cells of the sources, within ``size``.
  let cells: [PixelRectangle]

  private static let frameRates = 1.0 ... 120

  /// Reads a composition.
  ///
  /// - Parameters:
  ///   - session: The names of the session that composes.
  ///   - limits: The limits of a frame's size.
  /// - Throws: ``FieldViolation`` for a value outside its range, for sources that are missing, too
  ///   many, named twice, or the session itself. The field is relative to the message.
  init(
    _ message: Sidelight_V1_Composition, of session: Source, limits: FrameLimits
  ) throws(FieldViolation) {
    self.size = try Self.checkedSize(of: message, limits)
    guard message.frameRate == 0 || Self.frameRates.contains(message.frameRate) else {
      throw FieldViolation(
        field: "frame_rate", reason: "is \(message.frameRate), the range is 1 to 120, or 0 for 30",
        info: .outOfRange(message.frameRate, limit: "1 ... 120"))
    }
    self.interval = .seconds(1 / (message.frameRate == 0 ? 30 : message.frameRate))
    self.fit = try PictureFit(message.fit)
    guard !message.sources.isEmpty else {
      throw FieldViolation(field: "sources", reason: "is empty; a composition needs a source")
    }
    try ContractLimits.check(
      count: message.sources.count, atMost: ContractLimits.maxSources, field: "sources")
    var sources: [Source] = []
    var cells = try Self.layout(of: message, self.size)
    for (index, source) in message.sources.enumerated() {
      try FieldViolation.within("sources[\(index)]") { [size] () throws(FieldViolation) in
        sources.append(try Self.source(source, after: sources, of: session))
        if source.hasCell { cells[index] = try PixelRectangle(source.cell, in: size) }
      }
    }
    self.sources = sources
    self.cells = cells
  }

  private static func checkedSize(
    of message: Sidelight_V1_Composition, _ limits: FrameLimits
  ) throws(FieldViolation) -> FrameSize {
    for (name, side) in [("width", message.width), ("height", message.height)]
    where !(2 ... limits.maxDimension).contains(Int(side)) {
      throw FieldViolation(
        field: name, reason: "is \(side), the range is 2 to \(limits.maxDimension)",
        info: .outOfRange(side, limit: "2 ... \(limits.maxDimension)"))
    }
    let size = FrameSize(width: Int(message.width), height: Int(message.height))
    try limits.checkPixelCount(of: size)
    return size
  }

  private static func source(
    _ message: Sidelight_V1_CompositionSource, after others: [Source], of session: Source
  ) throws(FieldViolation) -> Source {
    try ParticipantName.check(message.participant, field: "participant")
    try ContractLimits.check(
      message.label, atMost: ContractLimits.maxLabelBytes, field: "label")
    let source = Source(participant: message.participant, label: message.label)
    guard source != session else {
      throw FieldViolation(
        field: "label",
        reason: "'\(source.label)' names the session itself; name another participant or label",
        info: .init(value: source.label))
    }
    if let other = others.firstIndex(of: source) {
      throw FieldViolation(
        field: "label", reason: "'\(source.label)' is the same session as sources[\(other)]",
        info: .init(value: source.label))
    }
    return source
  }

  // MARK: Layouts

  private static func layout(
    of message: Sidelight_V1_Composition, _ size: FrameSize
  ) throws(FieldViolation) -> [PixelRectangle] {
    let count = message.sources.count
    switch message.layout {
    case .unspecified, .grid:
      let columns = (1 ... count).first { $0 * $0 >= count } ?? count
      return Self.grid(count, columns: columns, in: size)
    case .sideBySide: return Self.grid(count, columns: count, in: size)
    case .pictureInPicture: return Self.pictureInPicture(count, in: size)
    case .UNRECOGNIZED(let value):
      throw FieldViolation(field: "layout", reason: "is \(value), which is not a layout")
    }
  }

  /// Returns equal cells in rows, of which the last one is centred.
  private static func grid(
    _ count: Int, columns: Int, in size: FrameSize
  ) -> [PixelRectangle] {
    let rows = (count + columns - 1) / columns
    return (0 ..< count).map { index in
      let row = index / columns
      // In halves of a cell.
      let indent = columns - min(columns, count - row * columns)
      let column = 2 * (index % columns) + indent
      func x(_ halves: Int) -> Int { halves * size.width / (2 * columns) }
      func y(_ row: Int) -> Int { row * size.height / rows }
      return PixelRectangle(x: x(column) ..< x(column + 2), y: y(row) ..< y(row + 1))
    }
  }

  /// Returns a cell of the whole picture, and small ones from its lower right corner on.
  private static func pictureInPicture(_ count: Int, in size: FrameSize) -> [PixelRectangle] {
    func x(_ column: Int) -> Int { column * size.width / 4 }
    func y(_ row: Int) -> Int { row * size.height / 4 }
    return (0 ..< count).map { index in
      guard index > 0 else {
        return PixelRectangle(x: 0 ..< size.width, y: 0 ..< size.height)
      }
      let (row, column) = (3 - (index - 1) / 4, 3 - (index - 1) % 4)
      return PixelRectangle(x: x(column) ..< x(column + 1), y: y(row) ..< y(row + 1))
    }
  }
}

/// A rectangle of whole pixels.
struct PixelRectangle: Sendable, Hashable {
  var x: Range<Int>
  var y: Range<Int>

  /// The size. May be empty in a small picture.
  var size: FrameSize { FrameSize(width: self.x.count, height: self.y.count) }

  init(x: Range<Int>, y: Range<Int>) {
    self.x = x
    self.y = y
  }

  /// Reads a cell.
  ///
  /// - Throws: ``FieldViolation`` for a cell that is empty or not within the picture. The field is
  ///   relative to the source.
  fileprivate init(
    _ cell: Sidelight_V1_CompositionCell, in size: FrameSize
  ) throws(FieldViolation) {
    for (name, edge, extent) in [
      ("x", cell.x, cell.width), ("y", cell.y, cell.height),
    ] {
      let field = name == "x" ? "width" : "height"
      guard (0 ... 1).contains(edge) else {
        throw FieldViolation(
          field: "cell.\(name)", reason: "is \(edge), the range is 0 to 1",
          info: .outOfRange(edge, limit: "0 ... 1"))
      }
      // Sums of fractions such as .1 + .9 are not exact.
      guard extent > 0, edge + extent <= 1 + 1e-9 else {
        throw FieldViolation(
          field: "cell.\(field)",
          reason: "is \(extent); it must be more than 0 and at most \(1 - edge)",
          info: .outOfRange(extent, limit: "0 ... \(1 - edge)"))
      }
    }
    func pixels(_ edge: Double, _ extent: Double, _ side: Int) -> Range<Int> {
      let first = min(Int((edge * Double(side)).rounded()), side - 1)
      let end = min(Int(((edge + extent) * Double(side)).rounded()), side)
      return first ..< max(end, first + 1)
    }
    self.x = pixels(cell.x, cell.width, size.width)
    self.y = pixels(cell.y, cell.height, size.height)
  }

  /// The largest rectangle of an aspect ratio, in the middle.
  ///
  /// - Parameter aspect: The picture, which has at least one pixel.
  func fitting(_ aspect: FrameSize) -> PixelRectangle {
    let own = self.size
    let isWide = aspect.width * own.height >= aspect.height * own.width
    func rounded(_ a: Int, _ b: Int) -> Int { max(1, (2 * a + b) / (2 * b)) }
    let width = isWide ? own.width : rounded(own.height * aspect.width, aspect.height)
    let height = isWide ? rounded(own.width * aspect.height, aspect.width) : own.height
    let left = self.x.lowerBound + (own.width - width) / 2
    let top = self.y.lowerBound + (own.height - height) / 2
    return PixelRectangle(x: left ..< left + width, y: top ..< top + height)
  }
}

/// The newest result of a session, for compositions that show it.
///
/// A session keeps one result, and only while a composition reads it.
final class SessionResults: Sendable {
  /// A finished frame.
  struct Result: Sendable {
    /// The number of the result, which counts up.
    var number: UInt64
    /// The picture, in memory that does not change any more.
    var picture: IncomingPicture
    /// The revision of the pipeline that filtered it.
    var revision: UInt64
  }

  private struct State {
    var readers = 0
    var count: UInt64 = 0
    var newest: Result?
  }

  private let state = Mutex(State())

  var isRead: Bool { self.state.withLock { $0.readers > 0 } }

  /// The newest result since a composition began to read.
  var newest: Result? { self.state.withLock { $0.newest } }

  /// Replaces the newest result.
  func publish(_ picture: IncomingPicture, revision: UInt64) {
    let last = self.state.withLock { state -> Result? in
      guard state.readers > 0 else { return nil }
      state.count += 1
      defer {
        state.newest = Result(number: state.count, picture: picture, revision: revision)
      }
      return state.newest
    }
    // Its memory is released without the lock.
    _ = consume last
  }

  /// Begins to keep results.
  func beginReading() {
    self.state.withLock { $0.readers += 1 }
  }

  /// Ends ``beginReading()``.
  func endReading() {
    let last = self.state.withLock { state -> Result? in
      state.readers -= 1
      guard state.readers == 0 else { return nil }
      return state.newest.take()
    }
    _ = consume last
  }
}

/// The results that a composed picture shows.
struct ComposedResults: Sendable {
  private var shown: [(session: SessionHandle, revision: UInt64)] = []

  /// Adds a result of a session.
  mutating func add(_ session: SessionHandle, revision: UInt64) {
    self.shown.append((session, revision))
  }

  /// Whether all of them may still be shown.
  var arePermitted: Bool {
    self.shown.allSatisfy { $0.session.permitsResult(of: $0.revision) }
  }
}
