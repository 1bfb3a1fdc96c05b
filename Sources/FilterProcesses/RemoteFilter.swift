import SidelightKernels
import SidelightScene
import SidelightWire
import SwiftProtobuf
import Synchronization

/// A filter of a process, with its arguments.
struct RemoteFilter: WarpingFilter {
  /// The processes that serve it.
  let processes: FilterProcessGroup
  let offer: FilterOffer
  let arguments: Arguments

  var description: FilterDescription { self.offer.description }

  /// A new picture may show everything elsewhere.
  var warps: Bool {
    if case .picture = self.offer.result { !self.offer.keepsPositions } else { false }
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    if case .analysis(let everyNth) = self.offer.result {
      return [.analysis(ProcessAnalysis(filter: self, everyNth: everyNth))]
    }
    return [.scene(RemoteOperation(filter: self))]
  }
}

/// The use of a filter by one stage of one session, and its state in the process.
///
/// Opened in the process with the first frame, and again after the process was started again.
final class RemoteSession: Sendable {
  private struct State {
    var process: FilterProcess?
    var connection: FilterConnection?
    var number: UInt64 = 0
    /// The parameters that the process knows.
    var parameters: [String: ParameterValue] = [:]
  }

  let filter: String
  private let processes: FilterProcessGroup
  private let state = Mutex(State())

  init(of filter: RemoteFilter) {
    self.processes = filter.processes
    self.filter = filter.offer.name
  }

  deinit {
    let state = self.state.withLock { ($0.connection, $0.number, $0.process) }
    state.0?.close(state.1)
    state.2?.addSessions(-1)
  }

  /// The process of the next frame: the same, unless another has replaced it, or it is being started
  /// again while another can serve.
  var process: FilterProcess {
    self.state.withLock { state in
      if let process = state.process, self.processes.isServing(process), process.isAttached {
        return process
      }
      let process = self.processes.leastUsed
      if process === state.process { return process }
      state.process?.addSessions(-1)
      process.addSessions(1)
      state.process = process
      return process
    }
  }

  /// Filters a frame.
  ///
  /// - Parameters:
  ///   - frame: The message without session and parameters.
  ///   - deadline: The time at which the frame has no use any more.
  /// - Throws: `PassDeadlineError`, `CancellationError`, or ``FilterProcessError``.
  func filter(
    _ frame: Sidelight_V1_HostMessage.Frame, _ blocks: [FilterMemory.Block],
    on connection: FilterConnection, _ arguments: Arguments, label: String = "",
    until deadline: Duration?
  ) async throws -> Sidelight_V1_ProcessMessage.Result {
    var frame = frame
    try self.state.withLock { state in
      if state.connection !== connection {
        state.connection?.close(state.number)
        state.connection = nil
        state.number = try connection.open(
          self.filter, arguments.values.mapValues(Sidelight_V1_ParameterValue.init), label: label)
        state.connection = connection
      } else if state.parameters != arguments.values {
        frame.parameters.values = arguments.values.mapValues(Sidelight_V1_ParameterValue.init)
      }
      state.parameters = arguments.values
      frame.session = state.number
    }
    let result = try await connection.filter(frame, blocks, until: deadline)
    guard let result else {
      // The process may not have got the frame, nor its parameters.
      if frame.hasParameters { self.state.withLock { $0.parameters = [:] } }
      if Task.isCancelled { throw CancellationError() }
      throw PassDeadlineError()
    }
    return result
  }
}

/// The work of a filter that returns pictures: a pass of its own.
struct RemoteOperation: SceneOperation, StagedRequest {
  let filter: RemoteFilter

  var summary: String { "a filter process, in \(self.filter.offer.format.rawValue)" }
  var faces: FaceRequest? { nil }
  var readsPicture: Bool { false }
  var isCopyable: Bool { !self.filter.offer.isStateful }
  var format: PixelFormat? { self.filter.offer.format }

  func output(for size: FrameSize) -> FrameSize {
    guard case .picture(let output) = self.filter.offer.result else { return size }
    return output.size(for: size)
  }

  func makeStage() -> any SceneStage { RemoteStage(self.filter) }

  func makePass(_ setting: PassSetting, index: Int) -> any Pass {
    ProcessPass(
      description: PassDescription(
        filters: setting.description.filters, kind: .frame, summary: self.summary),
      filter: self.filter, geometry: setting.geometry, index: index)
  }
}

/// The drawing of a stage: its session in the process.
struct RemoteDrawing: Sendable {
  let session: RemoteSession
  let orientation: Orientation
  /// The faces, if other stages need them.
  var faces: [Sidelight_V1_Detection] = []
}

/// The stage of a filter in a session. A transition's two plans share the session in the process if
/// the filter has no state.
struct RemoteStage: SceneStage {
  private let filter: RemoteFilter
  private let session: RemoteSession

  init(_ filter: RemoteFilter) {
    self.filter = filter
    self.session = RemoteSession(of: filter)
  }

  mutating func adopt(_ request: any SceneRequest) -> Bool {
    guard let operation = request as? RemoteOperation else { return false }
    return operation.filter.processes === self.filter.processes
      && operation.filter.offer.name == self.filter.offer.name
  }

  mutating func step(_ view: SceneView) -> any Sendable {
    var drawing = RemoteDrawing(session: self.session, orientation: view.orientation)
    drawing.faces = (view.faces?.faces ?? []).map { face in
      let region = view.picture.frameRegion(of: face.box)
      return .with {
        $0.kind = "face"
        $0.trackingID = UInt64(face.id.value)
        $0.confidence = face.confidence
        $0.x = region.origin.x.value
        $0.y = region.origin.y.value
        $0.width = region.width.value
        $0.height = region.height.value
      }
    }
    return drawing
  }
}

/// A pass that a filter process computes.
///
/// The pass before writes its result into the process's memory, and the pass after reads the
/// process's result there. Only a frame that is not converted, and a result that no pass reads, are
/// copied.
struct ProcessPass: RemotePass {
  let description: PassDescription
  let filter: RemoteFilter
  /// The geometry of the input.
  let geometry: FrameGeometry
  /// The number of the stage among the plan's scene stages.
  let index: Int

  func makeInput(_ layout: FrameLayout, scene: FrameScene?) -> Raster? {
    guard let session = self.drawing(in: scene)?.session,
      let memory = try? session.process.connection().memory,
      let block = try? memory.allocate(layout.byteCount)
    else { return nil }
    return self.raster(layout, block)
  }

  func result(
    _ context: PassContext, _ layout: FrameLayout, ownsInput: Bool
  ) async throws -> Raster {
    let drawing = self.drawing(in: context.scene)
    // A picture without a stream has a session of its own.
    let session = drawing?.session ?? RemoteSession(of: self.filter)
    let process = session.process
    let connection = try process.connectionForFrame()
    let input = try await self.input(context, in: connection.memory, ownsInput: ownsInput)
    var output: FilterMemory.Block?
    if case .picture = self.filter.offer.result {
      let block = try connection.memory.allocate(layout.byteCount)
      // Samples that the filter does not write must not show another frame.
      if !self.filter.offer.fillsOutput { block.buffer.clear() }
      output = block
    }
    var frame = Sidelight_V1_HostMessage.Frame()
    frame.input = .init(input.layout, in: input.block)
    if let output { frame.output = .init(layout, in: output) }
    frame.describe(context.time, self.geometry)
    frame.sequence = context.details.sequence
    frame.captureTimeNs = context.details.captureNanoseconds
    frame.faces = drawing?.faces ?? []
    if let orientation = drawing?.orientation, orientation != .upright {
      frame.orientation = Sidelight_V1_Orientation(orientation)
    }
    func exchange() async throws {
      let start = process.clock.now()
      let result = try await session.filter(
        frame, [input.block] + (output.map { [$0] } ?? []), on: connection,
        self.filter.arguments, label: context.details.label, until: context.deadline)
      guard let record = PassFigures.record else { return }
      let elapsed = (process.clock.now() - start) / .microseconds(1)
      record("process_us", Int(clamping: result.processUs))
      record("exchange_us", Int(elapsed))
    }
    if let meter = context.bands.meter {
      try await meter.wait { try await exchange() }
    } else {
      try await exchange()
    }
    return self.raster(output == nil ? input.layout : layout, output ?? input.block)
  }

  func countCopy() { self.filter.processes.monitor.countCopy() }

  private func drawing(in scene: FrameScene?) -> RemoteDrawing? {
    scene?.drawing(of: self.index, as: RemoteDrawing.self)
  }

  private func input(
    _ context: PassContext, in memory: FilterMemory, ownsInput: Bool
  ) async throws -> (block: FilterMemory.Block, layout: FrameLayout) {
    let source = context.inputs[0]
    let frame = source.frame(color: self.geometry.color, orientation: .upright)
    if ownsInput, let block = frame.buffer.origin as? FilterMemory.Block, block.memory === memory {
      return (block, source.layout)
    }
    let layout = try FrameLayout(aligned: source.format, size: source.size)
    let block = try memory.allocate(layout.byteCount)
    self.countCopy()
    await context.copy(source, to: self.raster(layout, block))
    return (block, layout)
  }

  private func raster(_ layout: FrameLayout, _ block: FilterMemory.Block) -> Raster {
    Raster(MutableFrame(layout: layout, color: self.geometry.color, buffer: block.buffer))
  }
}

/// An analysis by a filter process.
struct ProcessAnalysis: RemoteAnalysis {
  let filter: RemoteFilter
  let everyNth: Int

  func makeAnalyzer() -> any FrameAnalyzer { ProcessAnalyzer(self.filter) }

  func analyze(
    _ frame: Frame, at time: FrameTime
  ) async throws -> [String: AnalysisValue] {
    var analyzer = ProcessAnalyzer(self.filter)
    return try await analyzer.analyze(frame, at: time)
  }
}

/// The analyzer of a session.
struct ProcessAnalyzer: FrameAnalyzer {
  private let filter: RemoteFilter
  private let session: RemoteSession
  private var input: ProcessInput

  /// The time for the answer. The session reports an analysis that takes longer.
  private static let limit = Duration.seconds(2)
  /// The maximum number of values that are reported.
  private static let maxValues = 256

  init(_ filter: RemoteFilter) {
    self.filter = filter
    self.session = RemoteSession(of: filter)
    self.input = ProcessInput(filter.offer.format)
  }

  mutating func analyze(
    _ frame: Frame, at time: FrameTime
  ) async throws -> [String: AnalysisValue] {
    let process = self.session.process
    let connection = try process.connectionForFrame()
    let (block, layout) = try await self.input.write(frame, to: connection.memory)
    var message = Sidelight_V1_HostMessage.Frame()
    message.input = .init(layout, in: block)
    message.describe(
      time, FrameGeometry(format: layout.format, size: frame.size, color: frame.color))
    if frame.orientation != .upright {
      message.orientation = Sidelight_V1_Orientation(frame.orientation)
    }
    let result = try await self.session.filter(
      message, [block], on: connection, self.filter.arguments,
      until: process.clock.now() + Self.limit)
    return try Self.values(result.analysis, in: frame.size)
  }

  /// Returns the values of a result.
  ///
  /// - Throws: ``FilterProcessError`` for too many or invalid values.
  private static func values(
    _ analysis: Sidelight_V1_Analysis, in size: FrameSize
  ) throws(FilterProcessError) -> [String: AnalysisValue] {
    let count =
      analysis.figures.count + analysis.detections.count + analysis.rows.count
      + analysis.words.count
    guard count <= Self.maxValues else {
      throw FilterProcessError("the analysis has \(count) values; the limit is \(Self.maxValues)")
    }
    var values: [String: AnalysisValue] = [:]
    for (name, number) in analysis.figures where number.isFinite { values[name] = .number(number) }
    for (name, row) in analysis.rows where row.values.count <= 1024 {
      values[name] = .vector(row.values)
    }
    for (name, text) in analysis.words { values[name] = .text(text.clipped(toBytes: 1024)) }
    for (kind, found) in Dictionary(grouping: analysis.detections, by: \.kind) {
      values[kind] = .list(
        found.map { item in
          .region(
            Region(
              origin: FramePoint(x: Length(item.x), y: Length(item.y)),
              width: Length(item.width), height: Length(item.height)),
            confidence: item.confidence, id: item.trackingID)
        })
    }
    return values
  }
}

extension Sidelight_V1_HostMessage.Picture {
  /// The position of a picture in the memory.
  init(_ layout: FrameLayout, in block: FilterMemory.Block) {
    self.init()
    self.width = UInt32(layout.size.width)
    self.height = UInt32(layout.size.height)
    self.planes = layout.planes.map { plane in
      .with {
        $0.offset = UInt32(block.range.lowerBound + plane.offset)
        $0.stride = UInt32(plane.stride)
      }
    }
  }
}

extension Sidelight_V1_HostMessage.Frame {
  mutating func describe(_ time: FrameTime, _ geometry: FrameGeometry) {
    self.index = time.index
    self.arrivalTimeNs = Int64(time.arrival / .nanoseconds(1))
    self.color = Sidelight_V1_ColorDescription(geometry.color, of: geometry.format)
  }
}

extension PixelBuffer {
  /// Sets all bytes to 0.
  func clear() {
    _ = self.bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }
}
