import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Random kernels, computed by the compiler and by ``RandomKernel``, which was written apart from
/// it.
@Suite struct `Random kernels` {
  static let size = FrameSize(width: 19, height: 7)

  @Test(arguments: 0 ..< 24)
  func `a compiled kernel gives the levels of its definition`(_ seed: UInt64) async throws {
    var random = TestRandom(seed: seed)
    let bench = TestBench()
    let geometry = FrameGeometry(
      format: .rgb24, size: Self.size, color: ColorDescription(alpha: .opaque))
    let frame = try TestFrame.make(geometry, seed: seed, padding: .packed)
    let picture = KernelPicture(size: Self.size, samples: frame.samples[0])
    var compared = 0
    for _ in 0 ..< 8 {
      let kernel = RandomKernel.make(&random)
      let stage = Stage.filter("kernel", ["source": .text(kernel.text)])
      guard kernel.text.utf8.count <= Pipeline.maxTextBytes else { continue }
      let result = try await bench.run([stage], on: frame).samples[0]
      for index in 0 ..< Self.size.pixelCount {
        let position = KernelPosition(x: index % Self.size.width, y: index / Self.size.width)
        guard let color = kernel.value(picture, position) else { continue }
        for channel in 0 ..< 3 {
          let expected = min(max(color[channel] * 255, 0), 255)
          #expect(
            abs(Double(result[3 * index + channel]) - expected) <= 1,
            "\(kernel.text) at \(position)")
          compared += 1
        }
      }
    }
    #expect(compared > 200)
  }

  @Test(arguments: 0 ..< 12)
  func `every instruction set gives the same bits`(_ seed: UInt64) async throws {
    var random = TestRandom(seed: seed + 1000)
    let numbers = (0 ..< 800).map { index -> Float in
      switch index % 9 {
      // Zeros, subnormal numbers and large ones of both signs.
      case 0:
        Float(
          bitPattern: UInt32.random(in: 0 ... 0x4974_2400, using: &random)
            | (index % 2 == 0 ? 0x8000_0000 : 0))
      case 1: Float.random(in: -100 ... 100, using: &random)
      default: Float.random(in: -0.5 ... 1.5, using: &random)
      }
    }
    for _ in 0 ..< 8 {
      let text = RandomKernel.make(&random, readsNeighbors: false).text
      guard text.utf8.count <= Pipeline.maxTextBytes else { continue }
      let geometry = FrameGeometry(format: .rgba8, size: FrameSize(width: 300, height: 200))
      let filters = try FilterCatalogue.builtIn
        .resolve([.filter("kernel", ["source": .text(text)])]).stages
      guard case .filter(_, _, let filter) = filters[0].content,
        let node = filter.nodes(for: geometry).first, case .kernel(let kernel) = node.kind
      else { continue }
      var results: [[UInt32]] = []
      for machine in InstructionSet.available {
        let pool = ComputePool(threadCount: 1, instructionSet: machine)
        results.append(
          await withTaskExecutorPreference(pool) { await Self.run(kernel, on: numbers) })
      }
      for result in results.dropFirst() { #expect(result == results[0], "\(text)") }
    }
  }

  /// Runs a kernel on strips of several lengths.
  ///
  /// - Returns: The bits of the results.
  @concurrent
  private static func run(_ kernel: StripKernel, on numbers: [Float]) async -> [UInt32] {
    var bits: [UInt32] = []
    for count in [200, 61, 16, 3] {
      var floats = numbers
      unsafe floats.withUnsafeMutableBufferPointer { floats in
        guard let base = floats.baseAddress else { return }
        unsafe kernel.apply(
          Strip(
            red: base, green: base + 200, blue: base + 400, alpha: base + 600, count: count, x: 40,
            y: 17, time: FrameTime(index: 3, arrival: .milliseconds(1500))))
      }
      bits += floats.map(\.bitPattern)
    }
    return bits
  }
}
