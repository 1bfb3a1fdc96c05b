import GRPCProtobuf
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// Makes the frames of a session with a composition: at its frame rate, from the newest results of
/// other sessions of the caller, and offers them to the mailbox as frames that arrive.
struct Composer: ~Copyable {
  private let session: Session
  private let composition: LockedValue<Composition>
  private var intake: FrameIntake
  private var sources: SourceTable
  private var lastSequence: UInt64 = 0
  private let cost = CostEstimate(priorWork: .milliseconds(2))

  private var engine: Engine { self.session.engine }

  init(session: Session, _ composition: LockedValue<Composition>) {
    self.session = session
    self.composition = composition
    self.intake = FrameIntake(session: session)
    self.sources = SourceTable(
      caller: session.handle.identity.caller, sessions: session.engine.admission.sessions)
  }

  /// Makes frames until the task is cancelled.
  mutating func run() async {
    defer { self.sources.detach() }
    let clock = self.engine.clock
    var due = clock.now()
    while !Task.isCancelled {
      let composition = self.composition.value
      // Frames that are missed are left out.
      due = max(due + composition.interval, clock.now())
      await clock.wait(due - clock.now())
      guard !Task.isCancelled else { return }
      if let advice = self.session.quality.takeAdvice() {
        self.session.outcomes.push(.message(.with { $0.advice = advice }))
      }
      // The client does not read.
      guard self.session.outcomes.hasCapacity else { continue }
      await self.makeFrame(self.composition.value)
    }
  }

  private mutating func makeFrame(_ composition: Composition) async {
    let (clock, handle) = (self.engine.clock, self.session.handle)
    let received = clock.now()
    self.lastSequence += 1
    let message = Sidelight_V1_Frame.with {
      $0.sequence = self.lastSequence
      $0.captureTimeNs = Int64(clamping: clock.nanosecondsSince1970())
      $0.image.describe(composition.geometry, orientation: .upright)
    }
    let span = self.engine.observability.tracing.startFrame(message, byteCount: 0, in: self.session)
    let reservation = self.session.outcomes.reserve(sequence: self.lastSequence, byteCount: 0)
    func drop(_ reason: DropReason, _ stage: DropStage, _ diagnostic: GoogleRPCStatus? = nil) {
      self.session.resolver.drop(
        reservation, span, Drop(reason: reason, stage: stage, diagnostic: diagnostic))
    }
    handle.recordGeometry(composition.geometry)
    let active = handle.activePipeline(for: message, received: received)
    let pause = handle.pause
    if let reason = await self.intake.admission.refusal(
      of: message, byteCount: composition.layout.byteCount, hasCredit: true, pause: pause,
      at: received)
    {
      return drop(reason, .arrival)
    }
    guard self.session.mailbox.hasRoom else {
      self.session.quality.recordLost()
      return drop(.queueFull, .mailbox)
    }
    do {
      let (frame, results) = try await self.compose(composition, span, received: received)
      try await self.intake.accept(
        message, .frame(frame), active, reservation, span, pause: pause, received: received,
        composition: results)
    } catch is CancellationError {
      drop(.draining, .arrival)
    } catch {
      drop(.stageFailed, .arrival, (error as? GoogleRPCStatus) ?? .failedFrame(error))
    }
  }

  // MARK: Pixels

  /// Scales the newest results into their cells of a new frame, when the scheduler grants a turn.
  private mutating func compose(
    _ composition: Composition, _ span: FrameSpan, received: Duration
  ) async throws -> (Frame, ComposedResults) {
    let (processing, clock, cost) = (self.engine.processing, self.engine.clock, self.cost)
    self.sources.update(composition.sources)
    let painter = CellPainter(engine: self.engine, composition: composition)
    let observer = span.passObserver
    processing.scheduler.recordArrival(
      work: cost.work ?? .zero, session: self.session.handle.number)
    let cells = self.sources.cells
    let (frame, results, decoded) = try await processing.scheduler.withTurn(
      session: self.session.handle.number, deadline: received + composition.interval,
      cost: cost.work
    ) { bands, meter in
      let start = clock.now()
      let painted = try await observer.pass(.compose) {
        try await painter.paint(cells, bands, meter)
      }
      let elapsed = clock.now() - start
      cost.record(elapsed - meter.paused, work: elapsed + meter.beyondElapsed)
      return painted
    }
    self.sources.keep(decoded)
    return (frame, results)
  }
}

/// The sessions that are sources of a composition.
private struct SourceTable {
  /// A source with its session, if one is open.
  struct Entry: Sendable {
    var source: Composition.Source
    var session: SessionHandle?
    /// The last result that was a file, decoded.
    var decoded: (number: UInt64, frame: Frame)?

    /// The newest result that may be shown.
    var result: SessionResults.Result? {
      guard let session, let result = session.results.newest,
        session.permitsResult(of: result.revision)
      else { return nil }
      return result
    }
  }

  private let caller: String
  private let sessions: SessionRegistry
  private(set) var cells: [Entry] = []
  /// The state of the registry in which the sessions were found.
  private var version: UInt64?

  init(caller: String, sessions: SessionRegistry) {
    self.caller = caller
    self.sessions = sessions
  }

  /// Finds the sessions of sources, if the sources or the open sessions have changed.
  mutating func update(_ sources: [Composition.Source]) {
    let isSame = self.cells.map(\.source) == sources
    guard let found = self.sessions.tracks(of: self.caller, since: isSame ? self.version : nil)
    else { return }
    self.version = found.version
    let entries = sources.map { source in
      let session = found.tracks[source]
      let earlier = self.cells.first { $0.source == source && $0.session === session }
      return Entry(source: source, session: session, decoded: earlier?.decoded)
    }
    // A session that stays keeps its result.
    for entry in entries { entry.session?.results.beginReading() }
    self.detach()
    self.cells = entries
  }

  mutating func keep(_ decoded: [Int: (number: UInt64, frame: Frame)]) {
    for (index, decoded) in decoded { self.cells[index].decoded = decoded }
  }

  /// Ends the reading of all sessions.
  mutating func detach() {
    for entry in self.cells { entry.session?.results.endReading() }
    self.cells = []
  }
}

/// Paints the cells of a composed frame.
private struct CellPainter: Sendable {
  /// The samples of a cell without a result, in BGRA.
  private static let placeholder: [UInt8] = [48, 48, 48, 255]

  let engine: Engine
  let composition: Composition

  /// - Returns: The frame, the results that it shows, and the decoded ones by cell.
  func paint(
    _ entries: [SourceTable.Entry], _ bands: Int, _ meter: WorkMeter
  ) async throws -> (Frame, ComposedResults, [Int: (number: UInt64, frame: Frame)]) {
    let layout = self.composition.layout
    let buffer = PixelBuffer(transportable: layout.byteCount)
    var canvas = MutableFrame(layout: layout, buffer: buffer)
    let whole = PixelRectangle(
      x: 0 ..< layout.size.width, y: 0 ..< layout.size.height)
    canvas.fill(whole, with: [0, 0, 0, 255])
    var results = ComposedResults()
    var decoded: [Int: (number: UInt64, frame: Frame)] = [:]
    for (index, entry) in entries.enumerated() {
      let cell = self.composition.cells[index]
      guard cell.size.width > 0, cell.size.height > 0 else { continue }
      guard let session = entry.session, let result = entry.result,
        let samples = try await self.samples(of: result, entry)
      else {
        canvas.fill(cell, with: Self.placeholder)
        continue
      }
      if case .file = result.picture { decoded[index] = (result.number, samples) }
      results.add(session, revision: result.revision)
      try await self.paint(samples, into: cell, of: layout, buffer, bands, meter)
    }
    return (canvas.finish(), results, decoded)
  }

  /// Returns the samples of a result, opaque; `nil` for a file that cannot be decoded.
  private func samples(
    of result: SessionResults.Result, _ entry: SourceTable.Entry
  ) async throws -> Frame? {
    if let decoded = entry.decoded, decoded.number == result.number { return decoded.frame }
    do {
      let frame = try await self.engine.processing.codec.decode(result.picture)
      return frame.onBlack(in: self.engine.processing.pool)
    } catch is PictureCodec.Unreadable {
      return nil
    }
  }

  /// Scales a picture into a cell. The last pass writes into the composed frame.
  private func paint(
    _ frame: Frame, into cell: PixelRectangle, of layout: FrameLayout, _ buffer: PixelBuffer,
    _ bands: Int, _ meter: WorkMeter
  ) async throws {
    let shown = FrameShape(orientation: frame.orientation).size(of: frame.size)
    // The bars of a fitted picture would be transparent.
    let isFitted = self.composition.fit == .fit
    let cell = isFitted ? cell.fitting(shown) : cell
    let shape = FrameShape(
      orientation: frame.orientation, width: cell.size.width, height: cell.size.height,
      fit: isFitted ? .stretch : self.composition.fit)
    let compiler = self.engine.compiler
    let plan = compiler.plans.plan(
      for: try compiler.catalogue.resolve([]).shaped(shape), frame.geometry,
      as: FrameEncoding(format: .bgra8))
    try plan.checkCost()
    let plane = layout.planes[0]
    let target = try FrameLayout(
      format: .bgra8, size: cell.size,
      planes: [
        PlaneLayout(
          offset: plane.offset + cell.y.lowerBound * plane.stride + 4 * cell.x.lowerBound,
          stride: plane.stride)
      ], available: layout.byteCount)
    try await self.engine.processing.executor.run(
      plan, on: frame, into: MutableFrame(layout: target, buffer: buffer), bands: bands,
      meter: meter)
  }
}

extension PassDescription {
  /// The composition of a frame.
  fileprivate static let compose = PassDescription(
    filters: ["compose"], kind: .composite, summary: "the results of other sessions in one picture")
}

extension Composition {
  fileprivate var layout: FrameLayout {
    // The size was checked when the composition was requested.
    guard let layout = try? FrameLayout(packed: .bgra8, size: self.size) else {
      preconditionFailure("no frame has the size \(self.size)")
    }
    return layout
  }

  fileprivate var geometry: FrameGeometry {
    FrameGeometry(format: .bgra8, size: self.size, color: ColorDescription())
  }
}

extension MutableFrame {
  /// Fills a rectangle of a frame of four bytes per pixel.
  fileprivate mutating func fill(_ cell: PixelRectangle, with pixel: [UInt8]) {
    let row = (0 ..< cell.size.width).flatMap { _ in pixel }
    for y in cell.y {
      self.withMutableRow(y) { bytes in
        bytes.withUnsafeMutableBytes { target in
          UnsafeMutableRawBufferPointer(rebasing: target[(4 * cell.x.lowerBound)...])
            .copyBytes(from: row)
        }
      }
    }
  }
}
