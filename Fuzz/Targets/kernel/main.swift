import FuzzDriver
import SidelightKernelLanguage
import SidelightKernels
import SidelightReference

// Parses and compiles a kernel, and runs it on a tiny picture, by the compiled program and by its
// definition. An error has a position in the text. The first byte selects the format and the values
// of the parameters.

let size = FrameSize(width: 19, height: 5)
let formats: [PixelFormat] = [.rgba8, .i420, .rgb24]

func picture(_ geometry: FrameGeometry) -> ReferencePicture {
  var frame = BufferPool(maxIdleBytes: 0).makeFrame(geometryOf: geometry)
  for plane in 0 ..< geometry.format.planeCount {
    for y in 0 ..< geometry.format.rowCount(plane: plane, height: size.height) {
      frame.withMutableRow(y, plane: plane) { row in
        for x in 0 ..< row.byteCount {
          row.storeBytes(
            of: UInt8(truncatingIfNeeded: 37 * x + 101 * y), toByteOffset: x, as: UInt8.self)
        }
      }
    }
  }
  return ReferencePicture(frame.finish())
}

extension BufferPool {
  /// Returns a frame of a valid geometry.
  func makeFrame(geometryOf geometry: FrameGeometry) -> MutableFrame {
    guard let frame = try? self.makeFrame(geometry) else {
      preconditionFailure("no frame has the geometry \(geometry)")
    }
    return frame
  }
}

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard let first = bytes.first else { return }
  let file = Array(bytes.dropFirst())
  _ = KernelText.isKernel(file)
  let text: KernelText
  do throws(KernelTextError) {
    text = try KernelText(file, requiresHeader: false)
  } catch {
    precondition(
      (0 ... file.count).contains(error.position.utf8Offset), "a position beyond the text")
    precondition(error.position.line >= 1 && error.position.column >= 1 && !error.message.isEmpty)
    return
  }
  precondition(text.nanosecondsPerPixel <= KernelText.maxNanosecondsPerPixel, "a costly kernel")
  guard let source = String(validating: file, as: UTF8.self),
    source.utf8.count <= Pipeline.maxTextBytes
  else { return }
  var parameters: [String: ParameterValue] = ["source": .text(source)]
  for parameter in text.parameters where parameter.assetKind == .image {
    guard parameter.acceptsSource else { return }
    parameters[parameter.name] = .text(Asset.sourceName)
  }
  for parameter in text.parameters where first & 1 == 1 {
    switch parameter.kind {
    case .number: parameters[parameter.name] = .number(parameter.limits?.upperBound ?? -1e6)
    case .flag: parameters[parameter.name] = .flag(first & 2 == 2)
    default: break
    }
  }
  guard let resolved = try? FilterCatalogue.builtIn.resolve([.filter("kernel", parameters)]) else {
    preconditionFailure("a valid kernel is refused")
  }
  let geometry = FrameGeometry(
    format: formats[Int(first >> 2) % formats.count], size: size,
    color: ColorDescription(alpha: .straight))
  let plan = resolved.plan(for: geometry)
  precondition(plan.output == geometry && plan.refusal == nil, "a kernel changes the frame's shape")
  precondition(plan.passes.count <= 3, "a kernel is more than its pass and conversions of alpha")
  // The strips of the program, with any numbers: results are finite, or equal the input.
  for stage in resolved.stages {
    guard case .filter(_, _, let filter) = stage.content else { continue }
    for node in filter.nodes(for: geometry) {
      switch node.kind {
      case .kernel(let kernel): run(kernel)
      case .neighborhood:
        _ = ReferenceInterpreter(time: FrameTime()).apply([node], to: picture(geometry))
      default: break
      }
    }
  }
}

func run(_ kernel: StripKernel) {
  var floats = (0 ..< 1024).map { Float($0 % 97) / 64 - 0.25 }
  floats.withUnsafeMutableBufferPointer { floats in
    guard let base = floats.baseAddress else { return }
    kernel.apply(
      Strip(
        red: base, green: base + 256, blue: base + 512, alpha: base + 768, count: 255, x: 3, y: 2,
        time: FrameTime(index: 9, arrival: .seconds(7))))
  }
  precondition(floats.allSatisfy(\.isFinite), "a result is not finite")
}
