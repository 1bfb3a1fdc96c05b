import CKernels
import SidelightKernels

/// A compiled kernel: steps on the pixels of a strip, for the C rows.
///
/// A step is one loop over at most 256 pixels in the first-level cache. Numbers that are the same
/// for all pixels of a row are computed once.
@safe
package final class KernelProgram: @unchecked Sendable {  // the buffers are written once, in init
  private let graph: KernelGraph
  private let results: [KernelGraph.Index]
  /// The program in the form that the C rows use.
  private let program: sl_kernel_program
  private let steps: UnsafeMutableBufferPointer<sl_kernel_step>
  private let constants: UnsafeMutableBufferPointer<Float>
  /// The inputs of rows, in the order of their slots.
  private let inputs: [KernelGraph.Input]
  /// Whether the program reads the columns of pixels.
  private let readsColumn: Bool
  /// The maximum distance of a neighbour, in pixels.
  package let reach: Int
  /// The estimated time of a pixel on one thread with AVX2, without loading and storing it.
  package let nanosecondsPerPixel: Double
  /// Whether the slots fit the C rows.
  let fits: Bool
  /// The number of slots.
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
    self.readsColumn = schedule.inputs.contains(.column)
    self.reach = schedule.inputs.reduce(0) { reach, input in
      if case .sample(let x, let y, _) = input { max(reach, abs(x), abs(y)) } else { reach }
    }
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

  /// The number of steps on rows.
  package var stepCount: Int { unsafe Int(self.program.row_steps) }

  // MARK: Rows

  /// Computes a strip of straight colour in place.
  func run(_ strip: Strip, _ rows: sl_rows) {
    guard self.readsColumn else { return unsafe self.run(strip, rows, inputs: nil) }
    var column = unsafe Self.columns.start
    unsafe withUnsafePointer(to: &column) { unsafe self.run(strip, rows, inputs: $0) }
  }

  /// Computes a strip of straight colour in place, from it and strips of images.
  func run(_ strip: Strip, images: [Strip], _ rows: sl_rows) {
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafePointer<Float>.self, capacity: max(self.inputs.count, 1)
    ) { pointers in
      for (index, input) in self.inputs.enumerated() {
        guard case .image(let number, let channel) = input else {
          unsafe pointers.initializeElement(at: index, to: Self.columns.start)
          continue
        }
        let image = images[number]
        let planes = unsafe [image.red, image.green, image.blue, image.alpha]
        unsafe pointers.initializeElement(at: index, to: UnsafePointer(planes[channel]))
      }
      unsafe self.run(strip, rows, inputs: pointers.baseAddress)
    }
  }

  /// Computes a strip from a window of premultiplied colour.
  func run(_ strip: Strip, window: PixelWindow, _ rows: sl_rows) {
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafePointer<Float>.self, capacity: max(self.inputs.count, 1)
    ) { pointers in
      for (index, input) in self.inputs.enumerated() {
        let pointer =
          switch input {
          case .sample(let x, let y, let channel):
            unsafe window.row(offset: y, channel: channel) + (strip.x + x)
          default: unsafe Self.columns.start
          }
        unsafe pointers.initializeElement(at: index, to: pointer)
      }
      unsafe self.run(strip, rows, inputs: pointers.baseAddress)
    }
  }

  private func run(
    _ strip: Strip, _ rows: sl_rows, inputs: UnsafePointer<UnsafePointer<Float>>?
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
            strip.count)
        }
      }
    }
  }

  // MARK: Definition

  /// Computes a pixel in double precision.
  ///
  /// - Parameters:
  ///   - images: The premultiplied pixels of images.
  ///   - sample: A channel of the pixel at an offset.
  func evaluate(
    _ pixel: SIMD4<Double>, x: Int, y: Int, _ time: FrameTime, images: [SIMD4<Double>] = [],
    sample: (_ x: Int, _ y: Int, _ channel: Int) -> Double = { _, _, _ in 0 }
  ) -> SIMD4<Double> {
    let values = self.graph.evaluate(self.results) { input in
      switch input {
      case .channel(let channel): pixel[channel]
      case .sample(let x, let y, let channel): sample(x, y, channel)
      case .image(let image, let channel): images[image][channel]
      case .column: Double(x) + 0.5
      case .start: 0
      case .row: Double(y) + 0.5
      case .time: Double(Self.seconds(time))
      case .frame: Double(Self.number(time))
      case .unknown: 0
      }
    }
    return [values[0], values[1], values[2], values[3]]
  }

  /// The arrival of a frame in seconds, from 0 in every hour: single precision then has steps of a
  /// quarter of a millisecond.
  private static func seconds(_ time: FrameTime) -> Float {
    let (seconds, attoseconds) = time.arrival.components
    return Float(Double(seconds % 3600) + Double(attoseconds) * 1e-18)
  }

  /// The frame's number, which restarts at 0 every 2^20 frames.
  private static func number(_ time: FrameTime) -> Float {
    Float(time.index & 0xF_FFFF)
  }
}

/// A compiled kernel that reads other pixels.
struct KernelWindow: CompiledNeighborhoodKernel {
  let program: KernelProgram

  var reach: Int { self.program.reach }

  var nanosecondsPerPixel: Double { self.program.nanosecondsPerPixel }

  func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
    let result = self.program.evaluate(
      .zero, x: position.x, y: position.y, FrameTime(index: position.frame)
    ) { x, y, channel in
      let pixel = window[x, y]
      return Double(
        channel == 0
          ? pixel.red : channel == 1 ? pixel.green : channel == 2 ? pixel.blue : pixel.alpha)
    }
    return Pixel(
      red: Float(result.x), green: Float(result.y), blue: Float(result.z), alpha: Float(result.w))
  }

  func apply(_ window: PixelWindow, to strip: ColorStrip) {
    let time = FrameTime(index: strip.frame, arrival: strip.arrival)
    unsafe self.program.run(
      Strip(
        red: strip.red, green: strip.green, blue: strip.blue, alpha: strip.alpha,
        count: strip.count, x: strip.x, y: strip.y, time: time),
      window: window, sl_rows_current().pointee)
  }
}
