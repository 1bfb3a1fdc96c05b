import CKernels
import SidelightKernels

/// A kernel with the values of its parameters: a filter of the catalogue, or the content of the
/// filter `kernel`.
struct KernelFilter: AdjustableFilter {
  /// The memory of a node of the graph that a program keeps, in bytes.
  private static let bytesPerNode = 200

  let text: KernelText
  private let arguments: Arguments

  init(_ text: KernelText, _ arguments: Arguments) {
    self.text = text
    self.arguments = arguments
  }

  var description: FilterDescription { self.text.catalogueDescription }

  /// Returns the same kernel with other parameter values.
  func with(_ arguments: Arguments) -> KernelFilter { KernelFilter(self.text, arguments) }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    self.nodes(for: geometry, in: .sRGBGamma)
  }

  /// The nodes in a working space, to which images are converted.
  func nodes(for geometry: FrameGeometry, in space: WorkingSpace) -> [FilterNode] {
    // An asset may have been replaced since; parameters that it did not have are at their defaults.
    let parameters = self.text.syntax.parameters.map { parameter in
      parameter.components(of: self.arguments.values[parameter.name], in: geometry.size)
    }
    guard
      let compiled = try? KernelCompiler.compile(
        self.text.syntax, self.text.bytes,
        KernelCompiler.Setting(
          parameters: parameters, size: geometry.size, isOpaque: geometry.isOpaque))
    else { return [] }
    // The results of neighbourhoods are premultiplied, and matrices take straight colour.
    if !compiled.isNeighborhood, let matrix = compiled.graph.affineMap(of: compiled.results) {
      return matrix == .identity ? [] : [.matrix(matrix)]
    }
    let program = KernelProgram(compiled)
    // With parameters, the program is at most as large as the checked one.
    guard program.fits else { return [] }
    let bytes = 64 * program.stepCount + Self.bytesPerNode * compiled.graph.nodes.count
    guard !compiled.isNeighborhood else {
      return [FilterNode(.window(KernelWindow(program: program)), byteCost: bytes)]
    }
    let images = self.text.syntax.parameters.filter(\.defaultValue.isImage)
    guard images.isEmpty else {
      let pictures = images.map { self.picture($0.name, in: geometry.size, space) }
      return [
        .composition(
          of: pictures, nanosecondsPerPixel: program.nanosecondsPerPixel, byteCost: bytes
        ) { pixel, others, x, y, time in
          program.evaluate(pixel, x: x, y: y, time, images: others)
        } apply: { strip, others in
          unsafe program.run(strip, images: others, sl_rows_current().pointee)
        }
      ]
    }
    let kernel = StripKernel(nanosecondsPerPixel: program.nanosecondsPerPixel) {
      pixel, x, y, time in
      program.evaluate(pixel, x: x, y: y, time)
    } apply: { strip in
      unsafe program.run(strip, sl_rows_current().pointee)
    }
    return [FilterNode(.kernel(kernel), byteCost: bytes)]
  }

  /// Returns the placed picture of a parameter; `nil` if its value isn't a picture.
  private func picture(
    _ name: String, in size: FrameSize, _ space: WorkingSpace
  ) -> PlacedBackdrop? {
    guard case .text? = self.arguments.values[name], case .text(let fit)? = self.arguments.values["fit"]
    else { return nil }
    return Backdrop(name, of: self.arguments)?
      .placed(PictureFit(rawValue: fit) ?? .stretch, in: size, space)
  }
}
