import SidelightKernels
import Testing

@Suite struct `The buffer pool` {
  static let geometry = FrameGeometry(format: .bgra8, size: FrameSize(width: 640, height: 480))

  @Test func `a buffer is reused after its last frame is released`() throws {
    let pool = BufferPool()
    for _ in 0 ..< 3 { _ = try pool.makeFrame(Self.geometry).finish() }
    let statistics = pool.statistics
    #expect(statistics.misses == 1)
    #expect(statistics.hits == 2)
    #expect(statistics.bytesInUse == 0)
    #expect(statistics.bytesIdle > 0)
  }

  @Test func `a buffer that a frame holds is not reused`() throws {
    let pool = BufferPool()
    let first = try pool.makeFrame(Self.geometry).finish()
    let second = try pool.makeFrame(Self.geometry).finish()
    #expect(first.buffer !== second.buffer)
    #expect(pool.statistics.misses == 2)
  }

  @Test func `the buffer that was idle longest is freed first`() throws {
    let pool = BufferPool(maxIdleBytes: 2_000_000)
    let frames = try (0 ..< 4).map { _ in try pool.makeFrame(Self.geometry).finish() }
    withExtendedLifetime(consume frames) { #expect(pool.statistics.bytesIdle == 0) }
    #expect(pool.statistics.bytesIdle <= 2_000_000)
    #expect(pool.statistics.bytesIdle > 0)
    pool.trim(to: 0)
    #expect(pool.statistics.bytesIdle == 0)
  }

  @Test func `trimming frees the buffers that were idle since the last trim`() throws {
    let pool = BufferPool()
    let large = FrameGeometry(format: .bgra8, size: FrameSize(width: 1920, height: 1080))
    _ = try pool.makeFrame(large).finish()
    _ = try pool.makeFrame(Self.geometry).finish()
    let both = pool.statistics.bytesIdle
    pool.trimUnneeded()
    #expect(pool.statistics.bytesIdle == both, "it came since")
    _ = try pool.makeFrame(Self.geometry).finish()
    pool.trimUnneeded()
    #expect(pool.statistics.bytesIdle < both)
    #expect(pool.statistics.misses == 2)
    _ = try pool.makeFrame(Self.geometry).finish()
    #expect(pool.statistics.misses == 2, "what was needed is still there")
    pool.trimUnneeded()
    pool.trimUnneeded()
    #expect(pool.statistics.bytesIdle == 0)
  }

  @Test func `a steady stream needs no new memory`() async throws {
    let bench = TestBench()
    let frame = try TestFrame.make(Self.geometry)
    let pipeline: Pipeline = [.filter("gaussianBlur"), .filter("sepiaTone"), .filter("pixellate")]
    for _ in 0 ..< 3 { _ = try await bench.run(pipeline, on: frame) }
    let before = bench.pool.statistics.misses
    for _ in 0 ..< 10 { _ = try await bench.run(pipeline, on: frame) }
    #expect(bench.pool.statistics.misses == before)
    #expect(bench.pool.statistics.bytesInUse == 0)
  }
}
