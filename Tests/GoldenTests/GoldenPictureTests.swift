import SidelightKernels
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Compares the settings of the guides with committed pictures, which `dev/pictures goldens`
/// writes.
@Suite struct `Golden pictures` {
  /// Whether the pictures are written instead of compared.
  static let writesPictures = unsafe getenv("SIDELIGHT_GOLDENS") != nil

  @Test(.enabled(if: Self.writesPictures), arguments: Golden.guides)
  func `pictures are written`(_ golden: Golden) throws {
    try golden.commit()
  }

  @Test(.enabled(if: !Self.writesPictures), arguments: Golden.guides)
  func `the reference equals the pictures`(_ golden: Golden) throws {
    let (worst, size) = Self.compare(try golden.reference(), try golden.committed())
    #expect(size)
    // Another machine's mathematics may round the other way.
    #expect(worst <= 1)
  }

  @Test(
    .enabled(if: !Self.writesPictures), arguments: Golden.guides,
    InstructionSet.available.flatMap { [($0, PixelFormat.rgb24), ($0, .bgra8)] })
  func `plans equal the pictures on each instruction set`(
    _ golden: Golden, _ machine: (InstructionSet, PixelFormat)
  ) async throws {
    let result = try await Self.run(
      golden.pipeline, golden.size, machine.0, machine.1, light: golden.light)
    let (worst, size) = Self.compare(result, try golden.committed())
    #expect(size)
    #expect(worst <= golden.tolerance)
  }

  @Test(arguments: InstructionSet.available)
  func `a nested zoom and hue equal the flat chain`(_ instructionSet: InstructionSet) async throws {
    let size = FrameSize(width: 160, height: 120)
    let nested = try await Self.run(
      [Golden.pixellate, Stage(.pipeline([Golden.zoom, Golden.hue]))], size, instructionSet, .rgb24)
    let flat = try await Self.run(
      [Golden.pixellate, Golden.zoom, Golden.hue], size, instructionSet, .rgb24)
    let (worst, _) = Self.compare(nested, flat)
    #expect(worst == 0)
  }

  private static func run(
    _ pipeline: Pipeline, _ size: FrameSize, _ instructionSet: InstructionSet,
    _ format: PixelFormat, light: SIMD3<Double> = .one
  ) async throws -> Frame {
    let frame = try DrawnScene.frame(format, size, light: light)
    let executor = PlanExecutor(
      pool: BufferPool(), compute: ComputePool(threadCount: 2, instructionSet: instructionSet),
      fixedBands: nil)
    let plan = try Golden.catalogue.resolve(pipeline).plan(for: frame.geometry)
    return try await executor.run(plan, on: frame)
  }

  /// The greatest difference of red, green or blue in levels, and whether the sizes agree.
  private static func compare(_ left: Frame, _ right: Frame) -> (worst: Int, sizesAgree: Bool) {
    guard left.size == right.size else { return (255, false) }
    let (a, b) = (Self.colors(left), Self.colors(right))
    return (zip(a, b).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }, true)
  }

  /// Red, green and blue, pixel by pixel.
  private static func colors(_ frame: Frame) -> [UInt8] {
    let step = frame.format.rowByteCount(plane: 0, width: 1)
    let order = frame.format == .bgra8 ? [2, 1, 0] : [0, 1, 2]
    return (0 ..< frame.size.height).flatMap { y in
      frame.withRow(y) { row in
        (0 ..< frame.size.width).flatMap { x in
          order.map { unsafe row.unsafeLoad(fromByteOffset: x * step + $0, as: UInt8.self) }
        }
      }
    }
  }
}
