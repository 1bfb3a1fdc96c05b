import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Results in memory of the caller. Random chains check their samples.
@Suite struct `Destinations of results` {
  static let geometry = FrameGeometry(
    format: .i420, size: FrameSize(width: 65, height: 33),
    color: ColorDescription(range: .full, matrix: .bt709))

  static func plan(_ pipeline: Pipeline) throws -> Plan {
    try FilterCatalogue.builtIn.resolve(pipeline).plan(for: Self.geometry)
  }

  static func inPlace(_ memory: PaddedBuffer, _ frame: Frame) -> MutableFrame {
    MutableFrame(layout: frame.layout, buffer: memory.buffer)
  }

  @Test(arguments: [
    Pipeline(stages: [.filter("sepiaTone"), .filter("vignette", ["intensity": .number(1)])]),
    [.filter("photoEffectNoir"), .filter("glow")],
  ])
  func `a pointwise plan in place takes no buffer of the pool`(_ pipeline: Pipeline) async throws {
    let bench = TestBench()
    let (memory, frame) = PaddedBuffer.holding(try TestFrame.make(Self.geometry))
    try await bench.executor.run(
      try Self.plan(pipeline), on: frame, into: Self.inPlace(memory, frame))
    #expect(bench.pool.statistics.misses == 0)
  }

  @Test func `the last pass writes a disjoint destination without a copy`() async throws {
    let bench = TestBench()
    let frame = try TestFrame.make(Self.geometry)
    let plan = try Self.plan([.filter("median")])
    let memory = PaddedBuffer(byteCount: 8192)
    let layout = try TestFrame.layout(Self.geometry, .ragged)
    let result = try await bench.executor.run(
      plan, on: frame, into: MutableFrame(layout: layout, buffer: memory.buffer))
    #expect(bench.pool.statistics.misses == 0)
    #expect(result.buffer === memory.buffer)
    #expect(result.layout == layout)
  }

  @Test func `an identity copies the frame unless the destination is the frame`() async throws {
    let bench = TestBench()
    let (memory, frame) = PaddedBuffer.holding(try TestFrame.make(Self.geometry, padding: .ragged))
    let samples = frame.samples
    let identity = try Self.plan([])
    let layout = try FrameLayout(packed: Self.geometry.format, size: Self.geometry.size)
    let elsewhere = PaddedBuffer(byteCount: layout.byteCount + 100)
    let copy = try await bench.executor.run(
      identity, on: frame, into: MutableFrame(layout: layout, buffer: elsewhere.buffer))
    #expect(copy.samples == samples)
    #expect(elsewhere.touchedBytes(outside: [layout]) == 0)
    let same = try await bench.executor.run(identity, on: frame, into: Self.inPlace(memory, frame))
    #expect(same.samples == samples)
    #expect(memory.touchedBytes(outside: [frame.layout]) == 0)
    #expect(bench.pool.statistics.misses == 0)
  }

  @Test func `the result has the plan's colours and the input's orientation`() async throws {
    let bench = TestBench()
    let turned = Orientation(quarterTurns: 3, isMirrored: true)
    let frame = try bench.pool.makeFrame(Self.geometry, orientation: turned).finish()
    let destination = try bench.pool.makeFrame(
      FrameGeometry(format: Self.geometry.format, size: Self.geometry.size))
    let result = try await bench.executor.run(
      try Self.plan([.filter("colorInvert")]), on: frame, into: destination)
    #expect(result.color == Self.geometry.color)
    #expect(result.orientation == turned)
  }

  @Test func `a custom frame function does not read its own output`() async throws {
    var bench = TestBench()
    bench.catalogue.register(Upended())
    let (memory, frame) = PaddedBuffer.holding(try TestFrame.make(Self.geometry))
    let plan = try bench.catalogue.resolve([.filter("upended")]).plan(for: Self.geometry)
    let expected = try await bench.executor.run(plan, on: frame).samples
    let result = try await bench.executor.run(plan, on: frame, into: Self.inPlace(memory, frame))
    #expect(result.samples == expected)
  }

  /// Turns every plane upside down.
  private struct Upended: Filter {
    let description = FilterDescription(
      name: "upended", summary: "", category: .custom, reach: .frame, fidelity: .formula,
      formula: "")

    func nodes(for geometry: FrameGeometry) -> [FilterNode] {
      [
        .frame { input, output, _ in
          for shape in PlaneShape.planes(input.format, input.size) {
            for y in 0 ..< shape.height {
              input.withRow(shape.height - 1 - y, plane: shape.plane) { from in
                output.withMutableRow(y, plane: shape.plane) { to in
                  for index in 0 ..< from.byteCount {
                    to.storeBytes(
                      of: unsafe from.unsafeLoad(fromByteOffset: index, as: UInt8.self),
                      toByteOffset: index, as: UInt8.self)
                  }
                }
              }
            }
          }
        }
      ]
    }
  }
}
