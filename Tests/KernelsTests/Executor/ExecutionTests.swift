import SidelightKernelLanguage
import SidelightKernels
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite struct `The executor` {
  static let geometry = FrameGeometry(format: .rgb24, size: FrameSize(width: 20, height: 10))

  /// Records the passes, and stops before the given one.
  final class Recorder: PassObserver {
    struct Stop: Error {}
    let names = Mutex<[String]>([])
    let limit: Int

    init(stopBefore limit: Int = .max) {
      self.limit = limit
    }

    func pass<Result: Sendable>(
      _ description: PassDescription, _ body: () async throws -> Result
    ) async throws -> Result {
      let count = self.names.withLock { $0.count }
      guard count < self.limit else { throw Stop() }
      self.names.withLock { $0.append(description.name) }
      return try await body()
    }
  }

  static let pipeline: Pipeline = [
    .filter("gaussianBlur"), .filter("sepiaTone"), .filter("colorInvert"), .filter("pixellate"),
  ]

  @Test func `the observer is called around each pass, in order`() async throws {
    let bench = TestBench()
    let plan = try bench.catalogue.resolve(Self.pipeline).plan(for: Self.geometry)
    let recorder = Recorder()
    let frame = try TestFrame.make(Self.geometry)
    _ = try await bench.executor.run(plan, on: frame, observer: recorder)
    #expect(
      recorder.names.withLock { $0 } == ["gaussianBlur", "sepiaTone+colorInvert", "pixellate"])
    #expect(recorder.names.withLock { $0 } == plan.passes.map(\.name))
  }

  @Test func `an observer that throws ends the frame before the pass`() async throws {
    let bench = TestBench()
    let plan = try bench.catalogue.resolve(Self.pipeline).plan(for: Self.geometry)
    let recorder = Recorder(stopBefore: 1)
    let frame = try TestFrame.make(Self.geometry)
    await #expect(throws: Recorder.Stop.self) {
      try await bench.executor.run(plan, on: frame, observer: recorder)
    }
    #expect(recorder.names.withLock { $0 } == ["gaussianBlur"])
    #expect(bench.pool.statistics.bytesInUse == 0)
  }

  /// Cancels the task that runs the plan, from within its first pass.
  struct Canceller: PassObserver {
    func pass<Result: Sendable>(
      _ description: PassDescription, _ body: () async throws -> Result
    ) async throws -> Result {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return try await body()
    }
  }

  @Test func `cancellation ends a frame between passes`() async throws {
    let bench = TestBench()
    let plan = try bench.catalogue.resolve(Self.pipeline).plan(for: Self.geometry)
    let frame = try TestFrame.make(Self.geometry)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await #expect(throws: CancellationError.self) {
          try await bench.executor.run(plan, on: frame, observer: Canceller())
        }
      }
    }
  }

  @Test func `work runs on the pool's threads`() async throws {
    let pool = ComputePool(threadCount: 3)
    // This thread is marked; the pool's are not.
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    defer { pthread_key_delete(key) }
    let mark = key
    unsafe pthread_setspecific(mark, UnsafeRawPointer(bitPattern: 1))
    await withTaskExecutorPreference(pool) {
      #expect(unsafe pthread_getspecific(mark) == nil)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0 ..< 50 {
          group.addTask { #expect(unsafe pthread_getspecific(mark) == nil) }
        }
      }
    }
    pool.shutdown()
  }

  /// Records the instruction sets that compute pixels, which shows whose threads run.
  private struct RecordingFilter: Filter, ColorKernel {
    final class Notes: Sendable {
      let seen = Mutex<Set<InstructionSet>>([])
    }

    let notes = Notes()
    let description = FilterDescription(
      name: "witness", summary: "", category: .custom, reach: .pixel, fidelity: .formula,
      formula: "")

    func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.colorKernel(self)] }

    func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel {
      _ = self.notes.seen.withLock { $0.insert(.current) }
      return pixel
    }
  }

  @Test(arguments: InstructionSet.available, [1, 5])
  func `every pass runs on the pool's threads, with their rows, banded or whole`(
    _ instructionSet: InstructionSet, _ bands: Int
  ) async throws {
    let witness = RecordingFilter()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(witness)
    let executor = PlanExecutor(
      pool: BufferPool(), compute: ComputePool(threadCount: 3, instructionSet: instructionSet),
      fixedBands: BandRunner(maxBands: bands, minBandNanoseconds: 0))
    let plan = try catalogue.resolve(
      [.filter("witness"), .filter("boxBlur"), .filter("witness")]
    ).plan(for: Self.geometry)
    _ = try await executor.run(plan, on: try TestFrame.make(Self.geometry))
    #expect(witness.notes.seen.withLock { $0 } == [instructionSet])
  }

  @Test func `the instruction set that SIDELIGHT_ISA names is the one in use`() {
    guard let name = unsafe getenv("SIDELIGHT_ISA") else { return }
    #expect(unsafe InstructionSet.current.rawValue == String(cString: name))
  }

  @Test func `a pool that is shut down still runs work`() async throws {
    let pool = ComputePool(threadCount: 2)
    pool.shutdown()
    pool.shutdown()
    let sum = await withTaskExecutorPreference(pool) {
      await withTaskGroup(of: Int.self) { group in
        for value in 0 ..< 10 { group.addTask { value } }
        return await group.reduce(0, +)
      }
    }
    #expect(sum == 45)
  }

  @Test func `concurrent frames equal sequential frames`() async throws {
    let bench = TestBench(threads: 4)
    let frame = try TestFrame.make(
      FrameGeometry(format: .i420, size: FrameSize(width: 333, height: 221)))
    let plan = try bench.catalogue.resolve(Self.pipeline).plan(for: frame.geometry)
    let alone = try await bench.executor.run(plan, on: frame).samples
    let executor = bench.executor
    try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      for _ in 0 ..< 24 {
        group.addTask { try await executor.run(plan, on: frame).samples }
      }
      for try await samples in group { #expect(samples == alone) }
    }
  }

  @Test func `the result keeps the orientation`() async throws {
    let bench = TestBench()
    let turned = Orientation(quarterTurns: 1, isMirrored: true)
    let frame = try bench.pool.makeFrame(Self.geometry, orientation: turned).finish()
    let plan = try bench.catalogue.resolve([.filter("colorInvert")]).plan(for: frame.geometry)
    #expect(try await bench.executor.run(plan, on: frame).orientation == turned)
  }
}
