import SidelightKernelLanguage
import SidelightKernels
import Testing

/// Frames lie in messages and in slots of shared memory, where the next byte belongs to other code
/// or does not exist.
@Suite struct `Memory bounds of filters` {
  /// Widths around the vectors of every instruction set.
  static let sizes = [(1, 1), (3, 2), (15, 5), (17, 4), (33, 3), (63, 7), (65, 9), (130, 12)]
    .map { FrameSize(width: $0.0, height: $0.1) }

  /// Every filter that needs no asset, and some that are combined.
  static let pipelines: [Pipeline] =
    FilterCatalogue.builtIn.descriptions
    .filter { $0.category != .analysis && !$0.parameters.contains { $0.kind == .asset } }
    .map { [.filter($0.name)] } + [
      [.filter("gaussianBlur", ["radius": .number(2)]), .filter("sepiaTone"), .filter("median")],
      [.filter("colorInvert"), .filter("vignette"), .filter("sharpenLuminance")],
    ]

  @Test(arguments: PixelFormat.allCases)
  func `no filter accesses bytes outside the frame`(_ format: PixelFormat) async throws {
    let bench = TestBench()
    for pipeline in Self.pipelines {
      for (index, size) in Self.sizes.enumerated() {
        let geometry = FrameGeometry(format: format, size: size)
        let plan = try bench.catalogue.resolve(pipeline).plan(for: geometry)
        let frame = try TestFrame.make(geometry)
        let expected = try await bench.executor.run(plan, on: frame).samples
        let flush = GuardedMemory.Flush.allCases[index % 2]
        let layout = try FrameLayout(packed: plan.output.format, size: plan.output.size)
        let result = try await bench.executor.run(
          plan, on: try GuardedMemory.copy(frame, flush: flush),
          into: MutableFrame(
            layout: layout,
            buffer: GuardedMemory.buffer(byteCount: layout.byteCount, flush: flush)))
        #expect(result.samples == expected, "\(pipeline) \(size)")
      }
    }
  }
}
