import CKernels
package import SidelightKernels

/// A compiled kernel: steps on the pixels of a strip, for the C rows.
///
/// A step is one loop over at most 256 pixels in the first-level cache. Numbers that are the same
/// for all pixels of a row are computed once.
@safe
package final class KernelProgram: @unchecked Sendable {  // the buffers are written once, in init
  package let graph: KernelGraph
  package let results: [KernelGraph.Index]
  /// The program in the form that the C rows use.
  private let program: sl_kernel_program
  private let steps: UnsafeMutableBufferPointer<sl_kernel_step>
  private let constants: UnsafeMutableBufferPointer<Float>
  /// The inputs of rows, in the order of their slots.
  private let inputs: [KernelGraph.Input]
  /// The images that are read at the pixel's position.
  private let imagesInPlace: Set<Int>
  /// The distance of neighbours that are read from rows of floats, in pixels.
  package let reach: Int
  /// Whether pixels of the picture are read at computed positions.
  let readsPicture: Bool
  /// The maximum distance of computed positions from the pixel; infinite if it is not known.
  let readDistance: Double
  /// Whether the result depends on the strip's own pixels.
  let readsChannels: Bool
  /// Whether the result depends on the pixel's red, green and blue only, and alpha does not change.
  let isPixelFunction: Bool
  /// The estimated time of a pixel on one thread with AVX2, without loading and storing it.
  package let nanosecondsPerPixel: Double
  /// Whether the slots fit the C rows.
  let fits: Bool
  let slotCount: Int

  /// Single inputs, in the order of their slots.
  private static let singleInputs: [KernelGraph.Input] = [.start, .row, .time, .frame]

  /// The columns of pixel centres in a strip at column 0.
  private static let columns = FloatTable((0 ..< Strip.capacity).map { Float($0) + 0.5 })

  /// Schedules a graph.
  init(_ compiled: KernelCompiler.Compiled) {
    let schedule = KernelSchedule(compiled)
    self.graph = compiled.graph
    self.results = compiled.results
    self.inputs = schedule.inputs
    self.reach = schedule.inputs.reduce(0) { reach, input in
      if case .sample(let x, let y, _) = input { max(reach, abs(x), abs(y)) } else { reach }
    }
    self.imagesInPlace = Set(
      schedule.inputs.compactMap { input in
        if case .image(let image, _) = input { image } else { nil }
      })
    self.isPixelFunction = compiled.graph.isPixelFunction(compiled.results)
    self.readsPicture = schedule.readsPicture
    self.readDistance = schedule.readDistance
    self.readsChannels = schedule.readsChannels
    self.nanosecondsPerPixel = schedule.nanosecondsPerPixel
    self.fits = schedule.fits
    self.slotCount =
      8 + schedule.inputs.count + schedule.rowCount + schedule.constants.count
      + schedule.singleCount
    unsafe self.steps = .allocate(capacity: max(schedule.steps.count, 1))
    _ = unsafe self.steps.initialize(from: schedule.steps)
    unsafe self.constants = .allocate(capacity: max(schedule.constants.count, 1))
    _ = unsafe self.constants.initialize(from: schedule.constants)
    unsafe self.program = sl_kernel_program(
      steps: self.steps.baseAddress.unsafelyUnwrapped,
      single_steps: Int32(schedule.singleStepCount),
      row_steps: Int32(schedule.steps.count - schedule.singleStepCount),
      constants: self.constants.baseAddress.unsafelyUnwrapped, inputs: Int32(self.inputs.count),
      rows: Int32(schedule.rowCount), constant_count: Int32(schedule.constants.count),
      single_inputs: Int32(Self.singleInputs.count), singles: Int32(schedule.singleCount))
  }

  deinit {
    unsafe self.steps.deallocate()
    unsafe self.constants.deallocate()
  }

  package var stepCount: Int { unsafe Int(self.program.row_steps) }

  /// The memory of the steps, of the constants and of the graph, in bytes.
  var byteCount: Int { 64 * self.stepCount + 200 * self.graph.nodes.count }

  // MARK: Rows

  /// The pictures that a program reads, other than its strip.
  @safe
  struct Sources {
    var images: [PlacedBackdrop] = []
    /// The pixels of the source frame at the strip, for images that are the source frame.
    var source: Strip?
    /// The rows around the strip.
    var window: PixelWindow?
    /// The picture for reads at computed positions.
    var picture: sl_kernel_picture?
  }

  /// Computes a strip in place: straight colour if the kernel is of one pixel, else premultiplied.
  func run(_ strip: Strip, _ sources: Sources, _ rows: sl_rows) {
    if self.inputs.isEmpty, sources.images.isEmpty, !self.readsPicture {
      return unsafe self.run(strip, rows, inputs: nil, pictures: nil)
    }
    let channels = 4 * sources.images.count
    unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: channels * Strip.capacity) {
      floats in
      func row(_ image: Int, _ channel: Int) -> UnsafeMutablePointer<Float> {
        unsafe floats.baseAddress.unsafelyUnwrapped + (4 * image + channel) * Strip.capacity
      }
      for (index, image) in sources.images.enumerated() {
        guard case .image(let placed) = image, self.imagesInPlace.contains(index) else { continue }
        unsafe placed.load(
          Strip(
            red: row(index, 0), green: row(index, 1), blue: row(index, 2), alpha: row(index, 3),
            count: strip.count, x: strip.x, y: strip.y, time: strip.time))
      }
      unsafe withUnsafeTemporaryAllocation(
        of: UnsafePointer<Float>.self, capacity: max(self.inputs.count, 1)
      ) { pointers in
        for (index, input) in self.inputs.enumerated() {
          let pointer: UnsafePointer<Float>
          switch input {
          case .sample(let x, let y, let channel):
            guard let window = sources.window else { preconditionFailure("a pass has a window") }
            unsafe pointer = window.row(offset: y, channel: channel) + (strip.x + x)
          case .image(let image, let channel):
            if case .source = sources.images[image], let source = sources.source {
              unsafe pointer = UnsafePointer(
                [source.red, source.green, source.blue, source.alpha][channel])
            } else {
              unsafe pointer = UnsafePointer(row(image, channel))
            }
          default: unsafe pointer = Self.columns.start
          }
          unsafe pointers.initializeElement(at: index, to: pointer)
        }
        unsafe self.withPictures(sources) { pictures in
          unsafe self.run(strip, rows, inputs: pointers.baseAddress, pictures: pictures)
        }
      }
    }
  }

  /// Calls `body` with the pictures that are read at computed positions: the picture, and images.
  private func withPictures(
    _ sources: Sources, _ body: (UnsafePointer<sl_kernel_picture>) -> Void
  ) {
    unsafe withUnsafeTemporaryAllocation(
      of: sl_kernel_picture.self, capacity: 1 + KernelText.maxImages
    ) { pictures in
      if let picture = unsafe sources.picture {
        unsafe pictures.initializeElement(at: 0, to: picture)
      }
      for (index, image) in sources.images.enumerated() {
        guard case .image(let placed) = image else { continue }
        unsafe pictures.initializeElement(at: index + 1, to: placed.picture)
      }
      unsafe body(UnsafePointer(pictures.baseAddress.unsafelyUnwrapped))
    }
  }

  /// Computes pixels of four bytes. For a program that is a function of pixels of bytes.
  func run(
    _ input: UnsafePointer<UInt8>, _ count: Int, _ red: Int, _ output: UnsafeMutablePointer<UInt8>,
    _ rows: sl_rows
  ) {
    unsafe withUnsafePointer(to: self.program) { program in
      unsafe rows.run_kernel_pixels(program, input, count, red, output)
    }
  }

  private func run(
    _ strip: Strip, _ rows: sl_rows, inputs: UnsafePointer<UnsafePointer<Float>>?,
    pictures: UnsafePointer<sl_kernel_picture>?
  ) {
    var channels = unsafe (strip.red, strip.green, strip.blue, strip.alpha)
    var singles = (
      Float(strip.x), Float(strip.y) + 0.5, Self.seconds(strip.time), Self.number(strip.time)
    )
    unsafe withUnsafePointer(to: self.program) { program in
      unsafe withUnsafeMutableBytes(of: &channels) { channels in
        unsafe withUnsafeMutableBytes(of: &singles) { singles in
          unsafe rows.run_kernel(
            program,
            channels.assumingMemoryBound(to: UnsafeMutablePointer<Float>.self).baseAddress
              .unsafelyUnwrapped,
            inputs, singles.assumingMemoryBound(to: Float.self).baseAddress.unsafelyUnwrapped,
            pictures, strip.count)
        }
      }
    }
  }

  /// The arrival of a frame in seconds, from 0 in every hour: single precision then has steps of a
  /// quarter of a millisecond.
  package static func seconds(_ time: FrameTime) -> Float {
    let (seconds, attoseconds) = time.arrival.components
    return Float(Double(seconds % 3600) + Double(attoseconds) * 1e-18)
  }

  /// The frame's number, which restarts at 0 every 2^20 frames.
  package static func number(_ time: FrameTime) -> Float {
    Float(time.index & 0xF_FFFF)
  }
}

/// A kernel of one pixel: a program, and the images that it reads.
package struct PixelKernel: Sendable {
  package let program: KernelProgram
  package let images: [PlacedBackdrop]
}
