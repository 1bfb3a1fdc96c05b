import CKernels

/// A custom function of pixels' neighbourhoods.
///
/// Bands keep the rows of their windows as planes of floats, with the edge pixels repeated beyond
/// both ends.
struct WindowPass: Pass {
  let description: PassDescription
  private let kernel: any NeighborhoodKernel
  private let conversion: YUVConversion
  private let reach: Int

  init(description: PassDescription, kernel: any NeighborhoodKernel, color: ColorDescription) {
    self.description = description
    self.kernel = kernel
    self.conversion = YUVConversion(color)
    self.reach = kernel.reach
  }

  func run(_ context: PassContext) async {
    let size = context.output.size
    let span = Double(2 * self.reach + 1)
    let nanoseconds = Double(size.pixelCount) * (5 + span * span)
    await context.bands.run(
      rows: size.height, alignment: context.output.format.isYUV ? 2 : 1,
      nanoseconds: nanoseconds
    ) { band in
      self.run(band, context)
    }
  }

  private func run(_ band: Range<Int>, _ context: PassContext) {
    let rows = unsafe sl_rows_current().pointee
    let size = context.output.size
    let source = unsafe StripStore(context.inputs[0].view, self.conversion, rows)
    let destination = unsafe StripStore(context.output.view, self.conversion, rows)
    let ring = PixelRing(
      width: size.width, height: size.height, reach: self.reach, time: context.time)
    let memory = StripMemory(strips: 2)
    for y in stride(from: band.lowerBound, to: band.upperBound, by: destination.rowsAtOnce) {
      let height = min(destination.rowsAtOnce, size.height - y)
      // Both rows of a pair are written together, so the ring has room for one more row.
      for row in y - self.reach ... y + height - 1 + self.reach { ring.load(row, from: source) }
      for x in stride(from: 0, to: size.width, by: Strip.capacity) {
        func compute(_ row: Int, _ memory: borrowing StripMemory) -> Strip {
          var strip = memory.strip(row, time: context.time)
          strip.x = x
          strip.y = y + row
          strip.count = min(Strip.capacity, size.width - x)
          ring.withWindow(y: y + row) { window in
            self.kernel.apply(window, to: ColorStrip(strip))
          }
          return strip
        }
        let first = compute(0, memory)
        destination.store(first, height > 1 ? compute(1, memory) : nil)
      }
    }
  }
}

/// The latest rows of a picture as planes of floats, with the edge pixels repeated beyond both
/// ends.
@safe
package final class PixelRing {
  private let width: Int
  private let height: Int
  private let reach: Int
  private let time: FrameTime
  private let slots: Int
  private let planeStride: Int
  private let floats: UnsafeMutablePointer<Float>
  /// The row in every slot.
  private var loadedRows: [Int]

  package init(width: Int, height: Int, reach: Int, time: FrameTime) {
    self.width = width
    self.height = height
    self.reach = reach
    self.time = time
    self.slots = 2 * reach + 2
    self.planeStride = width + 2 * reach
    unsafe self.floats = .allocate(capacity: 4 * self.planeStride * self.slots)
    unsafe self.floats.initialize(repeating: 0, count: 4 * self.planeStride * self.slots)
    self.loadedRows = Array(repeating: -1, count: self.slots)
  }

  deinit {
    unsafe self.floats.deallocate()
  }

  /// Loads a row, unless it is present. Rows at the edges replace rows beyond them.
  package func load(_ y: Int, from source: StripStore) {
    let row = min(max(y, 0), self.height - 1)
    guard self.loadedRows[row % self.slots] != row else { return }
    self.loadedRows[row % self.slots] = row
    let start = unsafe self.start(row)
    for x in stride(from: 0, to: self.width, by: Strip.capacity) {
      let red = unsafe start + x
      source.load(
        unsafe Strip(
          red: red, green: red + self.planeStride, blue: red + 2 * self.planeStride,
          alpha: red + 3 * self.planeStride, count: min(Strip.capacity, self.width - x), x: x,
          y: row, time: self.time))
    }
    for plane in 0 ..< 4 {
      let first = unsafe start + plane * self.planeStride
      for beyond in 0 ..< self.reach {
        unsafe first[-1 - beyond] = first[0]
        unsafe first[self.width + beyond] = first[self.width - 1]
      }
    }
  }

  /// Calls `body` with the window around a row with loaded neighbours.
  package func withWindow(y: Int, _ body: (PixelWindow) -> Void) {
    let count = 2 * self.reach + 1
    unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<Float>.self, capacity: count) {
      pointers in
      for index in 0 ..< count {
        let row = min(max(y - self.reach + index, 0), self.height - 1)
        unsafe pointers.initializeElement(at: index, to: UnsafePointer(self.start(row)))
      }
      body(
        unsafe PixelWindow(
          reach: self.reach, rows: UnsafePointer(pointers.baseAddress.unsafelyUnwrapped),
          planeStride: self.planeStride))
    }
  }

  private func start(_ row: Int) -> UnsafeMutablePointer<Float> {
    unsafe self.floats + (row % self.slots) * 4 * self.planeStride + self.reach
  }
}

/// A custom function of a whole frame.
struct FramePass: Pass {
  let description: PassDescription
  let color: ColorDescription
  let body: @Sendable (Frame, inout MutableFrame, FrameTime) throws -> Void

  func run(_ context: PassContext) async throws {
    let input = context.inputs[0].frame(color: self.color, orientation: .upright)
    var output = context.output.mutableFrame(color: self.color)
    // Samples that the function does not write must not show an earlier frame.
    unsafe _ = output.buffer.bytes.initializeMemory(as: UInt8.self, repeating: 0)
    try self.body(input, &output, context.time)
    precondition(
      output.buffer === context.output.mutableFrame(color: self.color).buffer
        && output.layout == context.output.layout,
      "the function replaced the frame that it was to write")
  }
}
