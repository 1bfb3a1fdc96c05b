package import SidelightKernels

/// An interpreter of pipelines, node by node and in double precision: the definition with which
/// compiled plans are compared.
///
/// It doesn't fold, fuse, approximate or divide into bands. It is slow.
package struct ReferenceInterpreter {
  private let time: FrameTime
  private let details: FrameDetails
  /// The source frame, once a pipeline is applied.
  private var source: ReferencePicture?

  package init(time: FrameTime = FrameTime(), details: FrameDetails = FrameDetails()) {
    self.time = time
    self.details = details
  }

  /// Applies a pipeline. The result is unclamped.
  package func apply(_ pipeline: ResolvedPipeline, to picture: ReferencePicture) -> ReferencePicture
  {
    var copy = self
    copy.source = picture
    let space = pipeline.workingSpace
    let inside = copy.convert(picture, from: .sRGBGamma, to: space)
    let result = copy.apply(pipeline.stages, in: space, to: inside)
    let unshaped = copy.convert(result, from: space, to: .sRGBGamma)
    return copy.apply(pipeline.shape.nodes(for: unshaped.geometry), to: unshaped)
  }

  /// Converts a picture to another space. In linear light a picture of a YUV format doesn't have
  /// planes of luma and chroma: its neighbourhoods are of red, green and blue.
  private func convert(
    _ picture: ReferencePicture, from outer: WorkingSpace, to inner: WorkingSpace
  ) -> ReferencePicture {
    guard outer != inner else { return picture }
    var result = picture
    result.mapPixels { pixel, _, _ in inner.converted(pixel) }
    result.geometry.format = inner.format(for: self.frameFormat(of: picture))
    return result
  }

  private func frameFormat(of picture: ReferencePicture) -> PixelFormat {
    self.source?.geometry.format ?? picture.geometry.format
  }

  /// The geometry that a filter receives: the frame's format, in every working space.
  private func frameGeometry(of picture: ReferencePicture) -> FrameGeometry {
    var geometry = picture.geometry
    geometry.format = self.frameFormat(of: picture)
    return geometry
  }

  private func apply(
    _ stages: [ResolvedStage], in space: WorkingSpace, to picture: ReferencePicture
  ) -> ReferencePicture {
    var current = picture
    for stage in stages where stage.isActive && stage.mix > 0 {
      var rect: PixelRect?
      if let region = stage.region {
        guard let found = PixelRect(region, in: current.geometry.size) else { continue }
        rect = found.covers(current.geometry.size) ? nil : found
      }
      var result = self.apply(stage, in: space, to: current)
      let isMixed = stage.mix < 1 || rect != nil
      if isMixed, result.geometry == current.geometry,
        !Self.isPointwise(stage, self.frameGeometry(of: current), space)
      {
        current = current.inItsFormat
        result = self.apply(stage, in: space, to: current)
      }
      current = Self.mix(current, result, stage.mix, rect)
    }
    return current
  }

  /// The stage's result, without its mix and region.
  private func apply(
    _ stage: ResolvedStage, in space: WorkingSpace, to picture: ReferencePicture
  ) -> ReferencePicture {
    switch stage.content {
    case .filter(_, _, let value):
      self.apply(
        value.nodes(for: self.frameGeometry(of: picture), in: space), to: picture, in: space)
    case .stages(let stages, let inner):
      self.convert(
        self.apply(stages, in: inner, to: self.convert(picture, from: space, to: inner)),
        from: inner, to: space)
    }
  }

  /// Whether the pixels of a stage's result depend only on the same pixel of its input.
  private static func isPointwise(
    _ stage: ResolvedStage, _ geometry: FrameGeometry, _ space: WorkingSpace
  ) -> Bool {
    func isPointwise(_ nodes: [FilterNode]) -> Bool {
      nodes.allSatisfy { node in
        switch node.kind {
        case .matrix, .field, .kernel, .source, .analysis: true
        case .scene(let operation):
          (operation as? any AdaptiveOperation)?.isColorMatrix ?? false
        case .neighborhood, .window, .frame, .drawing: false
        case .mixed(let nodes, _): isPointwise(nodes)
        }
      }
    }
    return switch stage.content {
    case .filter(_, _, let value): isPointwise(value.nodes(for: geometry, in: space))
    case .stages(let stages, let inner):
      stages.allSatisfy { !$0.isActive || Self.isPointwise($0, geometry, inner) }
    }
  }

  /// Applies nodes. The result is unclamped.
  package func apply(
    _ nodes: [FilterNode], to picture: ReferencePicture, in space: WorkingSpace = .sRGBGamma
  ) -> ReferencePicture {
    var current = picture
    for node in nodes {
      switch node.kind {
      case .matrix(let matrix):
        current.mapPixels { pixel, _, _ in matrix(pixel) }
      case .field(let field):
        current.mapPixels { pixel, x, y in
          let factor = field.value(x: x, y: y, time: self.time)
          return [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
        }
      case .kernel(let kernel):
        current.mapPixels { pixel, x, y in
          switch kernel.definition {
          case .formula(let formula): formula(pixel, x, y, self.time)
          case .value(let value):
            Self.definition(of: value).reference(pixel, .zero, x: x, y: y, self.time)
          }
        }
      case .source(let kernel):
        current = self.apply(kernel, to: current)
      case .neighborhood(let operation as any DefinedOperation):
        current = self.apply(operation, to: current.inItsFormat).inItsFormat
      case .neighborhood(let operation):
        current = Self.apply(operation, to: current)
      case .window(let kernel):
        current = self.apply(kernel, to: current.inItsFormat).inItsFormat
      case .drawing(let operation):
        current =
          Self.definition(of: operation)
          .reference(current.asFrame, self.time, self.details).inItsFormat
      case .scene(let operation as any AdaptiveOperation):
        current = self.apply(operation, to: current, in: space)
      case .frame, .scene, .analysis:
        break  // no definition in double precision
      case .mixed(let nodes, let amount):
        current = Self.mix(current, self.apply(nodes, to: current, in: space), amount, nil)
      }
    }
    return current
  }

  /// Applies the nodes of an operation that adapts to the source frame, as a separate picture. It
  /// works on gamma-encoded colour, and on the samples of frames unless it is a matrix.
  private func apply(
    _ operation: any AdaptiveOperation, to picture: ReferencePicture, in space: WorkingSpace
  ) -> ReferencePicture {
    guard let value = operation.measure(SampleGrid(self.source ?? picture)) else { return picture }
    var current = self.convert(picture, from: space, to: .sRGBGamma)
    if !operation.isColorMatrix { current = current.asFrame }
    current = self.apply(operation.nodes(for: value, of: current.geometry), to: current)
    if !operation.isColorMatrix { current = current.asFrame }
    return self.convert(current, from: .sRGBGamma, to: space)
  }

  private static func definition(
    of operation: any NeighborhoodOperation
  ) -> any ReferenceOperation {
    guard let operation = operation as? any ReferenceOperation else {
      preconditionFailure("\(type(of: operation)) has no definition in Tests/Reference")
    }
    return operation
  }

  private static func definition(of function: any Sendable) -> any ReferenceFunction {
    guard let function = function as? any ReferenceFunction else {
      preconditionFailure("\(type(of: function)) has no definition in Tests/Reference")
    }
    return function
  }

  private static func definition(of operation: any DrawingOperation) -> any ReferenceDrawing {
    guard let operation = operation as? any ReferenceDrawing else {
      preconditionFailure("\(type(of: operation)) has no definition in Tests/Reference")
    }
    return operation
  }

  private static func apply(
    _ operation: any NeighborhoodOperation, to picture: ReferencePicture
  ) -> ReferencePicture {
    let planes = picture.planes(isPremultiplied: true)
    let geometry = operation.output(for: picture.geometry)
    let keepsFourth = geometry.format.hasAlpha && geometry.color.alpha == .opaque
    let empty = TransparentBlack.samples(picture.geometry).map { $0.map(Double.init) }
    let sources = zip(planes, empty).map { plane, empty in
      var plane = plane
      plane.emptySamples = empty
      return plane
    }
    let processed = Self.definition(of: operation).reference(sources, of: picture.geometry)
    let results = zip(sources, processed).map { plane, result in
      guard keepsFourth, result.width == plane.width, result.height == plane.height else {
        return result
      }
      return result.map { x, y, channel in
        channel == 3 ? plane[x, y, 3] : result[x, y, channel]
      }
    }
    return ReferencePicture(planes: results, geometry: geometry, isPremultiplied: true)
  }

  private func apply(_ kernel: SourceKernel, to picture: ReferencePicture) -> ReferencePicture {
    var source = self.source ?? picture
    if source.geometry.size != picture.geometry.size {
      let extent = (
        width: Double(source.geometry.size.width), height: Double(source.geometry.size.height)
      )
      source = Self.apply(
        ResampleOperation(origin: (0, 0), extent: extent, size: picture.geometry.size), to: source)
    }
    source = self.convert(source, from: .sRGBGamma, to: kernel.space)
    let width = picture.geometry.size.width
    var result = picture
    result.mapPixels { pixel, x, y in
      let other = source.pixels[y * width + x]
      let alpha = picture.hasAlpha ? other.w : 1
      let covered = SIMD4(other.x * alpha, other.y * alpha, other.z * alpha, alpha)
      return switch kernel.definition {
      case .formula(let formula): formula(pixel, covered, x, y)
      case .value(let value):
        Self.definition(of: value).reference(pixel, covered, x: x, y: y, FrameTime())
      }
    }
    return result
  }

  private func apply(
    _ kernel: any NeighborhoodKernel, to picture: ReferencePicture
  ) -> ReferencePicture {
    let (width, height) = (picture.geometry.size.width, picture.geometry.size.height)
    let reach = kernel.reach
    let planeStride = width + 2 * reach
    // Premultiplied, with the edge pixels repeated beyond the edges: row by row, plane by plane.
    var floats: [Float] = []
    for y in -reach ..< height + reach {
      for channel in 0 ..< 4 {
        for x in -reach ..< width + reach {
          let index = min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)
          let pixel = picture.pixels[index]
          let factor = picture.hasAlpha && channel < 3 ? pixel.w : 1
          floats.append(Float(pixel[channel] * factor))
        }
      }
    }
    var result = picture
    unsafe floats.withUnsafeBufferPointer { floats in
      for y in 0 ..< height {
        let rows = unsafe (0 ... 2 * reach).map {
          unsafe floats.baseAddress.unsafelyUnwrapped + (y + $0) * 4 * planeStride + reach
        }
        unsafe rows.withUnsafeBufferPointer { rows in
          var window = unsafe PixelWindow(
            reach: reach, rows: rows.baseAddress.unsafelyUnwrapped, planeStride: planeStride)
          for x in 0 ..< width {
            window.x = x
            let pixel = kernel(window, at: PixelPosition(x: x, y: y, frame: self.time.index))
            let alpha = picture.hasAlpha ? Double(pixel.alpha) : picture.pixels[y * width + x].w
            let factor = picture.hasAlpha ? (alpha > 0 ? 1 / alpha : 0) : 1
            result.pixels[y * width + x] = [
              Double(pixel.red) * factor, Double(pixel.green) * factor,
              Double(pixel.blue) * factor, alpha,
            ]
          }
        }
      }
    }
    return result
  }

  private func apply(
    _ operation: any DefinedOperation, to picture: ReferencePicture
  ) -> ReferencePicture {
    let width = picture.geometry.size.width
    var result = picture
    let pixels = operation.pixels(of: picture.geometry.size, self.time) { x, y in
      let pixel = picture.pixels[y * width + x]
      let factor = picture.hasAlpha ? pixel.w : 1
      return [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
    }
    for index in result.pixels.indices {
      let pixel = pixels(index % width, index / width)
      let factor = picture.hasAlpha ? (pixel.w > 0 ? 1 / pixel.w : 0) : 1
      result.pixels[index] = [pixel.x * factor, pixel.y * factor, pixel.z * factor, pixel.w]
    }
    return result
  }

  private static func mix(
    _ before: ReferencePicture, _ after: ReferencePicture, _ amount: Double, _ rect: PixelRect?
  ) -> ReferencePicture {
    guard before.geometry == after.geometry, amount != 1 || rect != nil else { return after }
    var result = after
    let width = before.geometry.size.width
    for index in result.pixels.indices {
      let (x, y) = (index % width, index / width)
      guard rect.map({ $0.x.contains(x) && $0.y.contains(y) }) ?? true else {
        result.pixels[index] = before.pixels[index]
        continue
      }
      let (from, to) = (before.pixels[index], after.pixels[index])
      // Premultiplied, which removes the effect of invisible colours.
      let alpha = from.w + (to.w - from.w) * amount
      var color = from * from.w + (to * to.w - from * from.w) * amount
      color = alpha > 0 ? color / alpha : .zero
      result.pixels[index] = [color.x, color.y, color.z, alpha]
      if !before.hasAlpha { result.pixels[index] = from + (to - from) * amount }
    }
    return result
  }
}

extension ReferencePicture {
  /// The picture as its format holds it, without rounding: pixels that share chroma have the same
  /// chroma, and pixels of grey formats are grey. Stages that are not pointwise read it and are
  /// mixed with it; only pointwise stages see colours that the format does not hold.
  fileprivate var inItsFormat: ReferencePicture {
    guard self.geometry.format.isYUV || self.geometry.format == .gray8 else { return self }
    return ReferencePicture(
      planes: self.planes(isPremultiplied: true), geometry: self.geometry, isPremultiplied: true)
  }

  /// The picture as a frame holds it, without rounding: within the range of samples, and in its
  /// format.
  fileprivate var asFrame: ReferencePicture {
    let isPremultiplied = self.geometry.color.alpha == .premultiplied
    let planes = self.planes(isPremultiplied: isPremultiplied)
      .map { plane in plane.map { x, y, channel in min(max(plane[x, y, channel], 0), 255) } }
    return ReferencePicture(
      planes: planes, geometry: self.geometry, isPremultiplied: isPremultiplied)
  }

  /// Replaces every pixel by a function of it and its position. An opaque picture stays opaque.
  mutating func mapPixels(
    _ body: (SIMD4<Double>, _ x: Int, _ y: Int) -> SIMD4<Double>
  ) {
    let width = self.geometry.size.width
    for index in self.pixels.indices {
      let before = self.pixels[index]
      let seen = self.hasAlpha ? before : [before.x, before.y, before.z, 1]
      var after = body(seen, index % width, index / width)
      if !self.hasAlpha { after.w = before.w }
      self.pixels[index] = after
    }
  }
}

extension WorkingSpace {
  /// Converts a colour of the other space into this one.
  fileprivate func converted(_ pixel: SIMD4<Double>) -> SIMD4<Double> {
    [self.inputCurve(pixel.x), self.inputCurve(pixel.y), self.inputCurve(pixel.z), pixel.w]
  }
}
