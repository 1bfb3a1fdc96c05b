import CKernels
import SidelightKernels

extension KernelText {
  /// Returns the nodes of the kernel for frames of a geometry.
  ///
  /// - Parameters:
  ///   - values: The components of the parameters.
  ///   - arguments: The arguments that name the kernel's images.
  ///   - space: The working space, to which images are converted.
  func nodes(
    _ values: [[Double]], _ arguments: Arguments, for geometry: FrameGeometry,
    in space: WorkingSpace
  ) -> [FilterNode] {
    guard let images = self.images(arguments, in: geometry.size, space) else { return [] }
    let setting = KernelCompiler.Setting(
      parameters: values, size: geometry.size, isOpaque: geometry.isOpaque)
    return self.syntax.passes.flatMap { self.nodes(of: $0, setting, images, in: space) }
  }

  private func nodes(
    of pass: Syntax, _ setting: KernelCompiler.Setting, _ images: [PlacedBackdrop],
    in space: WorkingSpace
  ) -> [FilterNode] {
    guard let compiled = try? KernelCompiler.compile(pass, self.bytes, setting) else { return [] }
    // The results of neighbourhoods are premultiplied, and matrices take straight colour.
    if !compiled.isNeighborhood, let matrix = compiled.graph.affineMap(of: compiled.results) {
      return matrix == .identity ? [] : [.matrix(matrix)]
    }
    let program = KernelProgram(compiled)
    // With parameters, the program is at most as large as the checked one.
    guard program.fits else { return [] }
    let byteCost = images.reduce(program.byteCount) { $0 + $1.byteCount }
    if compiled.isNeighborhood {
      let operation = KernelNeighborhood(
        program: program, images: images, isWarp: pass.isWarp)
      return [FilterNode(.neighborhood(operation), byteCost: byteCost)]
    }
    let readsSource = images.contains { image in
      if case .source = image { true } else { false }
    }
    guard readsSource else {
      let pixels = unsafe PixelFunction { input, count, red, output in
        unsafe program.run(input, count, red, output, sl_rows_current().pointee)
      }
      let kernel = StripKernel(
        isCurve: compiled.graph.isChannelwise(compiled.results),
        nanosecondsPerPixel: program.nanosecondsPerPixel,
        pixels: images.isEmpty && program.isPixelFunction ? pixels : nil
      ) {
        pixel, x, y, time in
        program.evaluate(pixel, x: x, y: y, time, images: images)
      } apply: { strip in
        unsafe program.run(
          strip, KernelProgram.Sources(images: images), sl_rows_current().pointee)
      }
      return [FilterNode(.kernel(kernel), byteCost: byteCost)]
    }
    let kernel = SourceKernel(
      space: space, nanosecondsPerPixel: program.nanosecondsPerPixel
    ) { pixel, source, x, y in
      program.evaluate(pixel, x: x, y: y, FrameTime(), images: images, source: source)
    } apply: { strip, source in
      unsafe program.run(
        strip, KernelProgram.Sources(images: images, source: source), sl_rows_current().pointee)
    }
    return [FilterNode(.source(kernel), byteCost: byteCost)]
  }

  /// Returns the images of a call, stretched over frames of a size; `nil` if one is missing.
  private func images(
    _ arguments: Arguments, in size: FrameSize, _ space: WorkingSpace
  ) -> [PlacedBackdrop]? {
    var images: [PlacedBackdrop] = []
    for image in self.syntax.images {
      // The asset with the text may have been replaced since the arguments were checked.
      guard case .text(let name)? = arguments.values[image.parameter],
        image.acceptsSource || name != Asset.sourceName,
        let picture = Backdrop(image.parameter, of: arguments)?.placed(.stretch, in: size, space)
      else { return nil }
      images.append(picture)
    }
    return images
  }
}

extension PlacedBackdrop {
  /// The memory of the pixels, in bytes.
  fileprivate var byteCount: Int {
    if case .image(let image) = self { image.byteCount } else { 0 }
  }
}
