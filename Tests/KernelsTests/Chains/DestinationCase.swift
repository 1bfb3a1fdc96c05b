import SidelightKernels

/// A destination of a plan's result.
enum DestinationCase: CaseIterable {
  /// Separate memory, without padding.
  case packed
  /// Separate memory, with odd strides and planes at odd addresses.
  case ragged
  /// The frame's own memory, plane for plane, where the plan keeps the geometry.
  case inPlace
  /// The frame's own memory, over several bands.
  case inPlaceInBands
  /// Memory that begins a little after the frame's.
  case overlapping

  /// Runs a plan on a frame into such a destination.
  ///
  /// - Returns: The output, and the number of bytes written outside any plane's samples; `nil` if
  ///   the plan doesn't have such a destination.
  func run(
    _ plan: Plan, _ frame: Frame, _ bench: ChainBench, _ chain: RandomChain
  ) async throws -> (frame: Frame, touchedPadding: Int)? {
    switch self {
    case .packed, .ragged:
      let layout = try TestFrame.layout(plan.output, self == .packed ? .packed : .ragged)
      let memory = PaddedBuffer(byteCount: layout.byteCount + 64)
      let result = try await bench.run(
        plan, frame, into: MutableFrame(layout: layout, buffer: memory.buffer), chain.index)
      return (result, memory.touchedBytes(outside: [layout]))
    case .inPlace, .inPlaceInBands:
      guard plan.output == plan.input else { return nil }
      let (memory, copy) = PaddedBuffer.holding(frame, spare: 64)
      let result = try await bench.run(
        plan, copy, into: MutableFrame(layout: copy.layout, buffer: memory.buffer), chain.index,
        inBands: self == .inPlaceInBands)
      return (result, memory.touchedBytes(outside: [copy.layout]))
    case .overlapping:
      let packed = try FrameLayout(packed: plan.output.format, size: plan.output.size)
      let (memory, copy) = PaddedBuffer.holding(frame, spare: packed.byteCount + 64)
      let layout = try FrameLayout(
        format: packed.format, size: packed.size,
        planes: packed.planes.map { PlaneLayout(offset: $0.offset + 5, stride: $0.stride) },
        available: memory.buffer.byteCount)
      let result = try await bench.run(
        plan, copy, into: MutableFrame(layout: layout, buffer: memory.buffer), chain.index)
      return (result, memory.touchedBytes(outside: [copy.layout, layout]))
    }
  }
}
